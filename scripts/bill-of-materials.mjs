// The bill of materials of a release: CycloneDX JSON, as `npm sbom` writes it from package-lock.json, reduced to the
// packages that the release contains.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { statedLicense } from './licenses.mjs';

const MAX_BYTES = 64 * 1024 * 1024;
/** Packages that the service loads on some versions of Node only. */
const OPTIONAL = ['@photostructure/sqlite'];

/** Returns a UUID that depends only on the content, so that the same release has the same serial number. */
function uuidOf(content) {
  const hex = createHash('sha256').update(content).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function component(listed, about) {
  return {
    ...listed,
    // a second folder of the same package may have an alias
    name: about.name,
    scope: OPTIONAL.includes(about.name) ? 'optional' : 'required',
    // the console's packages are development dependencies of the repository, but the release contains them
    properties: listed.properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
    // package-lock.json lacks the licenses of packages that state them in an outdated field
    licenses: listed.licenses ?? [{ license: { id: statedLicense(about) } }],
  };
}

/**
 * Returns the bill of materials of an archive.
 * @param folders of the packages in it, relative to the root of the repository
 * @param archive content of the archive
 * @param time of the release
 * @throws Error when package-lock.json lacks one of the packages, a hash or a license
 */
export function billOfMaterials(folders, archive, time) {
  const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
  const command = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const bill = JSON.parse(execFileSync('npm', command, { encoding: 'utf8', maxBuffer: MAX_BYTES }));
  const packages = new Map(
    folders.map((folder) => {
      const about = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
      return [`${about.name}@${about.version}`, about];
    }),
  );
  const components = bill.components
    .filter(({ 'bom-ref': ref }) => packages.has(ref))
    .map((listed) => component(listed, packages.get(listed['bom-ref'])));
  const listed = new Set(components.map(({ 'bom-ref': ref }) => ref));
  const missing = [...packages.keys()].filter((ref) => !listed.has(ref));
  const bare = components.filter(
    ({ hashes, licenses }) => !hashes?.length || !(licenses[0].expression || licenses[0].license.id),
  );
  if (missing.length || bare.length)
    throw new Error(`not in package-lock.json, or without hash or license: ${JSON.stringify([...missing, ...bare])}`);

  const root = `${name}@${version}`;
  const webConsole = `zoneward-console@${version}`;
  const needs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  needs.set(root, [...needs.get(root), ...needs.get(webConsole)]);
  const dependencies = [root, ...listed].map((ref) => ({
    ref,
    dependsOn: [...new Set(needs.get(ref))].filter((one) => listed.has(one)),
  }));
  return {
    ...bill,
    serialNumber: `urn:uuid:${uuidOf(archive)}`,
    metadata: {
      ...bill.metadata,
      timestamp: time.toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: {
        ...bill.metadata.component,
        type: 'application',
        name,
        hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(archive).digest('hex') }],
        licenses: [{ license: { id: license } }],
      },
    },
    components,
    dependencies,
  };
}
