"""Runs one point of a sweep at a place of labgrid.  The script `sweep` sets the variables and runs it for each point."""

import os


def test_point(target):
    driver = target.get_driver("BarecpcDriver")
    assert driver.run_point(os.environ["LG_SWEEP"], os.environ["LG_RESULTS"], os.environ["LG_POINT"]) == 0
