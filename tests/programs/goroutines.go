// Goroutines, channels, the garbage collector, timers, maps, and a panic that
// is recovered from: what the Go runtime needs of a kernel.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func (t *tree) nodes() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.nodes() + t.right.nodes()
}

// Send the primes below n through a chain of filters, one goroutine each.
func primes(n int) (sum int) {
	first := make(chan int)
	go func() {
		for i := 2; i < n; i++ {
			first <- i
		}
		close(first)
	}()
	for in := first; ; {
		prime, more := <-in
		if !more {
			return sum
		}
		sum += prime
		out := make(chan int)
		go filter(in, out, prime)
		in = out
	}
}

// Pass on the numbers that prime does not divide.
func filter(in <-chan int, out chan<- int, prime int) {
	for i := range in {
		if i%prime != 0 {
			out <- i
		}
	}
	close(out)
}

func divide(a, b int) (q int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return a / b, nil
}

// A loop without calls: only a signal can preempt it.
func spinUntil(stop *int32) (turns uint64) {
	for atomic.LoadInt32(stop) == 0 && turns < 1e9 {
		turns++
	}
	return turns
}

func main() {
	var wait sync.WaitGroup
	var lock sync.Mutex
	words := map[string]int{}
	for i := 0; i < 100; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			lock.Lock()
			words[fmt.Sprint(i%7)]++
			lock.Unlock()
		}(i)
	}
	wait.Wait()
	keys := []string{}
	for k := range words {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	fmt.Println("words", keys, words["0"], words["6"])
	fmt.Println("primes below 500:", primes(500))

	nodes := 0
	for i := 0; i < 20; i++ {
		nodes += grow(12).nodes()
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Println("nodes", nodes, "collected", stats.NumGC > 0)

	_, err := divide(1, 0)
	fmt.Println("panic:", err)
	_, err = os.ReadFile("/no/such/file")
	fmt.Println("missing:", errors.Is(err, os.ErrNotExist))
	err = os.WriteFile("/tmp/go", []byte("written"), 0o600)
	text, _ := os.ReadFile("/tmp/go")
	fmt.Println("file:", string(text), err)

	begin := time.Now()
	select {
	case <-time.After(20 * time.Millisecond):
	case <-make(chan int):
	}
	passed := time.Since(begin)
	fmt.Println("slept:", passed >= 20*time.Millisecond && passed < 200*time.Millisecond)

	var done int32
	time.AfterFunc(30*time.Millisecond, func() { atomic.StoreInt32(&done, 1) })
	turns := spinUntil(&done)
	fmt.Println("preempted:", turns > 0 && turns < 1e9)
}
