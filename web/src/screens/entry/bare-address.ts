import { useEffect } from 'react';

/**
 * Takes what is behind the path out of the address, where others could read it. Read it before, in the initial state: a
 * component that waits for its words begins anew, and an effect runs once it is shown.
 */
export function useBareAddress(): void {
  useEffect(() => {
    if (location.search || location.hash) history.replaceState(history.state, '', location.pathname);
  }, []);
}
