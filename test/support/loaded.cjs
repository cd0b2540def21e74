// Loaded into a service by `node --require`: on exit it prints the loaded files of OpenTelemetry.
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file.includes('@opentelemetry'));
  const packages = new Set(files.map((file) => /@opentelemetry\/([^/]+)/.exec(file)?.[1]));
  process.stdout.write(`loaded: ${[...packages].sort().join()}.\n`);
});
