"""The statistics of share/papers against arithmetic by hand: papers_statistics.py SHARE_PAPERS"""
import importlib.util
import sys

PAPERS = sys.argv[1]
sys.dont_write_bytecode = True


def load(paper):
    spec = importlib.util.spec_from_file_location(paper, f'{PAPERS}/{paper}.d/figures.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def near(a, b, tolerance=1e-4):
    assert abs(a - b) <= tolerance, f'{a} is not {b}'


reprompi, mpptest, howell = load('reprompi'), load('mpptest'), load('howell')

# Ranks 1 2 3 against 4 5 6: U = 0, mean 3 * 3 / 2 = 4.5, variance 3 * 3 * 7 / 12 = 5.25; with the half for continuity
# z = -4 / 2.2913 = -1.7457, of which a normal distribution has 0.04043 below: 0.08086 on both sides.
both, less = reprompi.wilcoxon([1, 2, 3], [4, 5, 6])
near(both, 0.08086), near(less, 0.04043)
# The other way round less is as improbable as can be: U = 9, z = (9 - 4.5 + 0.5) / 2.2913 = 2.1822.
near(reprompi.wilcoxon([4, 5, 6], [1, 2, 3])[1], 0.98545)
# Ties: 1 1 2 against 1 2 2 has ranks 2 2 5 and 2 5 5. U = 9 - 6 = 3; two ties of three: variance 9 / 12 * (7 - 48 / 30) =
# 4.05, z = (-1.5 + 0.5) / 2.0125 = -0.4969: 2 * 0.30962.
near(reprompi.wilcoxon([1, 1, 2], [1, 2, 2])[0], 0.61924)
assert reprompi.asterisks(0.0005) == '***' and reprompi.asterisks(0.05) == '*' and reprompi.asterisks(0.051) == ''

# Quartiles 2 and 4 (of 1 2 3 4 100: places 1 and 3), so from -1 to 7 stay.
assert reprompi.kept([1, 2, 3, 4, 100]) == [1, 2, 3, 4]
# 1, 1, 4: mean 2, deviations -1 -1 2, variance 2, third moment 6 / 3 = 2: 2 / 2^1.5.
near(reprompi.skew([1, 1, 4]), 0.70711)

# Half of the way from 10 to 20.
near(mpptest.at([(0, 10), (8, 20)], 4), 15)
# 100 to 104 bytes is a step of 50 %, 104 to 200 none: too far apart.
assert mpptest.steps([(100, 1), (104, 1.5), (200, 9)]) == [(100, 104, 1.5)]

# 0.5 + 2e-4 * 1000 us; with p: 1 + 2 * log2(8) + 3e-3 * 64 * 10.
near(howell.Formula('(0.5 ± 0.1) + (2.0 ± 0.1)e-4*d', '-')(2, 1000), 0.7e-6, 1e-12)
near(howell.Formula('(1.0 ± 0.1) + (2.0 ± 0.1)*log(p) + (3.0 ± 0.1)e-3*p^2*d', '-')(8, 10), (1 + 6 + 1.92) * 1e-6, 1e-12)
