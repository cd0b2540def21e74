// The short form of the benchmarks, `BENCH_SHORT=1`, by which the tests see that each still runs. Its figures say
// nothing.
const SHORT = process.env.BENCH_SHORT === '1';

/** A size, or what it is in the short form. */
export const size = (whole, short) => (SHORT ? short : whole);
