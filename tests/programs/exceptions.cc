// Exceptions through frames with destructors, across threads and from
// dlopen-free libstdc++; iostreams, threads, futures, regex and a clock.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int destroyed;

struct guard {
	~guard() { destroyed++; }
};

static int
dive(int depth)
{
	guard g;

	if (depth == 0)
		throw std::out_of_range("the bottom");
	return dive(depth - 1) + 1;
}

static void
nested()
try {
	dive(10);
} catch (...) {
	std::throw_with_nested(std::runtime_error("on the way up"));
}

int
main()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++)
		try {
			dive(10);
		} catch (const std::exception &) {
			caught++;
		}
	std::cout << "caught " << caught << ", destroyed " << destroyed << '\n';
	try {
		nested();
	} catch (const std::exception &outer) {
		try {
			std::rethrow_if_nested(outer);
		} catch (const std::out_of_range &inner) {
			std::cout << outer.what() << ": " << inner.what() << '\n';
		}
	}

	auto failing = std::async(std::launch::async, [] { return std::stoi("x"); });
	try {
		failing.get();
	} catch (const std::invalid_argument &e) {
		std::cout << "from a thread: " << e.what() << '\n';
	}

	std::mutex lock;
	std::condition_variable changed;
	std::vector<int> queue;
	long sum = 0;
	std::thread consumer([&] {
		for (int left = 100; left > 0; left--) {
			std::unique_lock<std::mutex> held(lock);
			changed.wait(held, [&] { return !queue.empty(); });
			sum += queue.back();
			queue.pop_back();
		}
	});
	for (int i = 1; i <= 100; i++) {
		std::lock_guard<std::mutex> held(lock);
		queue.push_back(i);
		changed.notify_one();
	}
	consumer.join();
	std::cout << "sum " << sum << '\n';

	std::smatch found;
	std::string text = "counted 4711 instructions";
	std::regex_search(text, found, std::regex("([0-9]+) (\\w+)"));
	std::cout << found[2] << '=' << found[1] << '\n';

	std::ofstream("/tmp/c++") << 1.5 << ' ' << "words";
	std::ifstream in("/tmp/c++");
	double number;
	std::string word;
	in >> number >> word;
	std::cout << number << ' ' << word << '\n';

	std::mutex busy;
	std::unique_lock<std::mutex> mine(busy);
	auto begin = std::chrono::steady_clock::now();
	std::condition_variable never;
	bool timed = never.wait_for(mine, std::chrono::milliseconds(20)) ==
	             std::cv_status::timeout;
	std::cout << "timed out: " << timed << ' '
		  << (std::chrono::steady_clock::now() - begin >=
			 std::chrono::milliseconds(20))
		  << '\n';
	try {
		std::vector<char> huge(1UL << 40);
	} catch (const std::bad_alloc &) {
		std::cout << "no terabyte\n";
	}
	return 0;
}
