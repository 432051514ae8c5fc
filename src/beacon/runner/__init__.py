"""Running searches: the clock, threads, starts, stops, traces and results."""
