"""Observations of share/papers/reprompi, and the statistics of the paper on them."""
import csv
import math
import statistics


def read(path):
    """{(function, bytes): {launch: [(began, seconds)]}}, in the order of the file."""
    cells = {}
    with open(path) as file:
        rows = [row for row in csv.reader(file) if row]
    head = rows[0]
    column = {name: head.index(name) for name in ('pattern', 'bytes', 'launch', 'seconds_median', 'began')}
    for row in rows:
        if row == head:  # each launch has one
            continue
        key = row[column['pattern']], int(row[column['bytes']])
        cells.setdefault(key, {}).setdefault(int(row[column['launch']]), []).append(
            (float(row[column['began']]), float(row[column['seconds_median']])))
    return cells


def times(observations):
    return [seconds for _, seconds in observations]


def quartiles(values):
    """Lower, median, upper; linear between the values, as R does (type 7)."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method='inclusive')
    return low, middle, high


def tukey(values):
    """Without what lies more than 1.5 interquartile ranges outside of the quartiles (section 3.3)."""
    low, _, high = quartiles(values)
    reach = 1.5 * (high - low)
    return [value for value in values if low - reach <= value <= high + reach]


def mean_interval(values):
    """Mean and half its 95 % confidence interval, by the normal distribution."""
    if len(values) < 2:
        return values[0], 0
    return statistics.mean(values), 1.96 * statistics.stdev(values) / math.sqrt(len(values))


def skewness(values):
    """0 for a normal distribution."""
    mean, spread = statistics.mean(values), statistics.pstdev(values)
    return statistics.mean((value - mean) ** 3 for value in values) / spread ** 3 if spread > 0 else 0


def quantile_pairs(values):
    """[(of the standard normal distribution, of the values in standard deviations)]: a Q-Q plot."""
    mean, spread = statistics.mean(values), statistics.pstdev(values) or 1
    normal = statistics.NormalDist()
    return [(normal.inv_cdf((i + 0.5) / len(values)), (value - mean) / spread) for i, value in enumerate(sorted(values))]


def asterisks(p):
    return '***' if p <= 0.001 else '**' if p <= 0.01 else '*' if p <= 0.05 else ''
