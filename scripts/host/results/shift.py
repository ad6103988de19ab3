"""How far one sample is shifted from another: a confidence interval without an assumption about the distribution.

Both samples are taken for independent values of one distribution, the second
moved by a constant.  Then the number U of pairs (a, b) with b - a not above
the shift has a known distribution, that of Mann and Whitney's test.  C is the
largest number for which U < C is at most as likely as half of the accepted
error.  The C-th smallest and the C-th largest of all differences b - a enclose
the shift.  Equal values make the interval wider, not narrower.  (Hodges and
Lehmann 1963; Hollander and Wolfe, Nonparametric Statistical Methods, 4.3.)
"""

import bisect
import functools
import math
import statistics

# Up to so many pairs the distribution of U is computed, beyond it is taken for normal.
EXACT_PAIRS = 2500
MOST_RUNS = 50


def interval(before, after, error):
    """(low, high) of the shift, wrong with at most this probability, or None if the samples are too small for it."""
    cut = _cut(*sorted((len(before), len(after))), error)
    if cut == 0:
        return None
    before, after = sorted(before), sorted(after)
    return _nth(before, after, cut), _nth(before, after, len(before) * len(after) + 1 - cut)


def runs_needed(error):
    """How many values each of two samples must have for an interval, or None if more than MOST_RUNS."""
    return next((n for n in range(1, MOST_RUNS + 1) if _cut(n, n, error)), None)


@functools.cache
def _cut(m, n, error):
    """The largest C for which P(U < C) <= error / 2."""
    if m * n > EXACT_PAIRS:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        return max(0, math.floor(m * n / 2 + 0.5 + statistics.NormalDist().inv_cdf(error / 2) * deviation))
    # The number of orders of the values for each U is a coefficient of the Gaussian binomial
    # (1 - q^(n+1)) ... (1 - q^(n+m)) / (1 - q) ... (1 - q^m).
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            ways[u] -= ways[u - n - i]
        for u in range(i, m * n + 1):
            ways[u] += ways[u - i]
    most = error / 2 * math.comb(m + n, m)
    cut = total = 0
    while (total := total + ways[cut]) <= most:
        cut += 1
    return cut


def _nth(before, after, n):
    """The n-th smallest difference between a value of `after` and one of `before`, both sorted."""
    low, high = after[0] - before[-1], after[-1] - before[0]
    while low < high:
        middle = (low + high) // 2
        if sum(bisect.bisect_right(after, value + middle) for value in before) >= n:
            high = middle
        else:
            low = middle + 1
    return low
