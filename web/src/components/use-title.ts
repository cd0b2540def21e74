import { useEffect } from 'react';

/** The title of the tab. @param name of the installation, where it is known already */
export function useTitle(title: string, name = 'Zoneward'): void {
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
}
