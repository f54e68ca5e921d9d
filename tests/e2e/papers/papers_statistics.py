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


mpptest, howell = load('mpptest'), load('howell')

# Half of the way from 10 to 20.
near(mpptest.at([(0, 10), (8, 20)], 4), 15)
# 100 to 104 bytes is a step of 50 %, 104 to 200 none: too far apart.
assert mpptest.steps([(100, 1), (104, 1.5), (200, 9)]) == [(100, 104, 1.5)]

# 0.5 + 2e-4 * 1000 us; with p: 1 + 2 * log2(8) + 3e-3 * 64 * 10.
near(howell.Formula('(0.5 ± 0.1) + (2.0 ± 0.1)e-4*d', '-')(2, 1000), 0.7e-6, 1e-12)
near(howell.Formula('(1.0 ± 0.1) + (2.0 ± 0.1)*log(p) + (3.0 ± 0.1)e-3*p^2*d', '-')(8, 10), (1 + 6 + 1.92) * 1e-6, 1e-12)
