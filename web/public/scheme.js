// Before anything is drawn: the colour scheme that was chosen, so that no page flashes in the other one.
(() => {
  let chosen = 'auto';
  try {
    chosen = localStorage.getItem('zoneward.scheme') || 'auto';
  } catch {
    // storage is refused: the system's scheme
  }
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
