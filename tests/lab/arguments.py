"""Lists on the command lines of both laboratories."""
import argparse


def names_of(known):
    """Names with commas, each of them known."""
    def read(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"there is no '{name}'; there are {', '.join(known)}")
        return names
    return read


def numbers(text):
    """Whole numbers above 0, with commas."""
    try:
        found = [int(number) for number in text.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' are no numbers, like 2,4")
    return found
