/**
 * Until it is undone, each look at the clock finds it a millisecond later: how long work takes is how much it does, not
 * how fast the machine is.
 */
export function countLooks(): () => void {
  const now = performance.now.bind(performance);
  let looks = 0;
  performance.now = () => now() + ++looks;
  return () => {
    performance.now = now;
  };
}
