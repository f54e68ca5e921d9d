"""Noise for the samples of a calibration that had none, as on a quiet cluster: times are only ever too long. Each length has
an error of its own, which no repetition shows, each of its times another one; means and medians contain more of it, the
longest time most. 1 % means a normal distribution of that standard deviation, of which the absolute value is taken."""
import csv
import random

OF_LENGTH, OF_TIME, OF_MEAN, OF_LONGEST = 0.01, 0.01, 0.03, 0.3


def add(samples, seed, noisy):
    """Copies a file of samples; the same seed gives the same file."""
    draw = random.Random(seed)
    error = lambda deviation: 1 + abs(draw.gauss(0, deviation))
    with open(samples) as source, open(noisy, "w") as out:
        header = []
        for line in source:
            row = next(csv.reader([line]), [])
            if line.startswith("#") or not row or not header or row == header:
                header = header or ([] if line.startswith("#") else row)
                out.write(line)
                continue
            of_length, of_mean = error(OF_LENGTH), error(OF_MEAN)
            for i, (name, value) in enumerate(zip(header, row)):
                if not name.startswith("seconds") or not value:
                    continue
                factor = of_length * error(OF_TIME)
                if name == "seconds_max":
                    factor *= 1 + OF_LONGEST
                if "avg" in name or "median" in name:
                    factor *= of_mean
                row[i] = f"{float(value) * factor:.9g}"
            out.write(",".join(row) + "\n")
