// Before anything is drawn: the colour scheme that was chosen, or is that of the profile, so that no page flashes in the
// other one.
(() => {
  let chosen = 'auto';
  try {
    const [own, profile] = ['zoneward.scheme', 'zoneward.scheme-of-profile'].map((key) => localStorage.getItem(key));
    chosen = own && own !== 'auto' ? own : profile || 'auto';
  } catch {
    // storage is refused: the system's scheme
  }
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
