import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, it } from '@jest/globals';
import { load } from 'js-yaml';
import { inCidrs } from '../../src/platform/common/cidr.js';
import { parseConfig } from '../../src/platform/config/config.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { render, yamlOf } from '../support/chart.js';

const ROOT = process.cwd();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const here = (file: string) => existsSync(join(ROOT, file));
const { scripts, version } = JSON.parse(read('package.json')) as { scripts: Record<string, string>; version: string };
const variables = Object.keys(parseEnv(read('.env.example'))).sort();
/** variables that the container sets by itself */
const FIXED = ['PORT', 'HOST', 'DATA_DIR'];

/** Instructions of the Dockerfile, continued lines joined. */
const instructions = read('deploy/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .trim()
  .split(/\n+/)
  .map((line) => ({ name: line.split(' ')[0] as string, words: line.slice(line.indexOf(' ') + 1) }));
const all = (name: string) => instructions.filter((one) => one.name === name).map(({ words }) => words);
const last = (name: string) => all(name).at(-1) as string;
const command: string[] = JSON.parse(last('CMD'));
/** files and folders that the Dockerfile copies from the repository */
const copied = all('COPY')
  .filter((words) => !words.startsWith('--from'))
  .flatMap((words) => words.split(' ').slice(0, -1));

describe('the Dockerfile', () => {
  it('copies what exists and what .dockerignore lets through', () => {
    const passed = read('.dockerignore').trim().split('\n');
    assert.equal(passed.shift(), '*');
    assert.ok(copied.length > 8);
    for (const file of copied) {
      assert.ok(here(file), file);
      assert.ok(passed.includes(`!${file}`) || passed.includes(`!${file.split('/')[0]}`), file);
    }
  });

  it('builds the release in its first stage, from all modules that the script needs', () => {
    const run = all('RUN').flatMap((words) => [...words.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name));
    assert.deepEqual(run, ['release']);
    const [, script] = /^node (scripts\/[\w-]+\.mjs)$/.exec(scripts.release as string) ?? [];
    const needed = new Set([script as string, 'scripts/bundle.mjs']);
    for (const file of needed) {
      assert.ok(copied.includes(file), file);
      for (const [, name] of read(file).matchAll(/from '\.\/([\w.-]+)';$/gm)) needed.add(`scripts/${name}`);
    }
    assert.ok(needed.size > 3);
  });

  it('has nothing but Node and the release in its last stage', () => {
    const stage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
    const named = (name: string) => stage.filter((one) => one.name === name).map(({ words }) => words);
    assert.deepEqual(named('FROM'), all('FROM').slice(1));
    assert.equal(`${named('FROM')[0]} AS build`, all('FROM')[0]);
    assert.deepEqual(named('COPY'), ['--from=build /src/release/zoneward/ ./']);
    assert.deepEqual(
      named('RUN')
        .flatMap((words) => words.split(' && '))
        .map((words) => words.split(' ')[0]),
      ['node', 'install'],
    );
  });

  it('starts the service as npm run start:prod does', () => {
    const arenas = all('ENV').flatMap((words) => words.match(/MALLOC_ARENA_MAX=\S+/) ?? []);
    assert.equal(`${arenas} exec ${command.join(' ')}`, scripts['start:prod']);
    assert.ok(here(command[1] as string), 'the build writes the file');
  });

  it('does not run as root, and asks a route that exists whether it is healthy', () => {
    assert.match(last('USER'), /^[1-9]\d*:[1-9]\d*$/);
    const [, path] = /\/(health\/\w+)/.exec(last('HEALTHCHECK')) ?? [];
    assert.equal(path, 'health/live');
    assert.match(last('HEALTHCHECK'), / CMD \[/, 'without a shell');
  });
});

/** `${NAME}`, `${NAME:-else}` and `${NAME:?message}`, nested, as compose reads them. */
function interpolate(text: string, env: Record<string, string>): string {
  const start = text.indexOf('${');
  if (start < 0) return text;
  let end = start + 2;
  for (let depth = 1; depth; end++) {
    if (text.startsWith('${', end)) depth++;
    if (text[end] === '}') depth--;
    assert.ok(end < text.length, `not closed: ${text}`);
  }
  const [, name = '', how, rest = ''] = /^(\w+)(:-|:\?)?(.*)$/.exec(text.slice(start + 2, end - 1)) ?? [];
  assert.ok(name, text);
  if (!env[name] && how === ':?') throw new Error(`${name}: ${rest}`);
  const value = env[name] || (how === ':-' ? interpolate(rest, env) : '');
  return text.slice(0, start) + value + interpolate(text.slice(end), env);
}

interface ComposeService {
  ports?: string[];
  image?: string;
  build?: { context: string; dockerfile: string };
  deploy?: { replicas: number };
  depends_on?: string[] | Record<string, unknown>;
  environment?: Record<string, string | number>;
  volumes?: string[];
  read_only?: boolean;
  profiles?: string[];
}

describe('compose.yaml', () => {
  const compose = load(read('deploy/compose.yaml')) as {
    services: Record<string, ComposeService>;
    networks: { default: { ipam: { config: { subnet: string }[] } } };
    volumes: Record<string, null>;
  };
  const { services } = compose;
  const { zoneward } = services as { zoneward: ComposeService };
  const secret = 's'.repeat(64);
  const secrets = { POSTGRES_PASSWORD: secret, SECRET_KEY: secret, SETUP_CODE: secret };
  const environment = (env: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(zoneward.environment ?? {}).map(([name, text]) => [name, interpolate(String(text), env)]),
    );

  it('names every variable of .env.example, and hands on what .env sets', () => {
    assert.deepEqual(Object.keys(zoneward.environment ?? {}).sort(), variables);
    for (const name of variables.filter((one) => !FIXED.includes(one))) {
      assert.equal(environment({ ...secrets, [name]: 'what was set' })[name], 'what was set', name);
    }
  });

  it('makes a configuration of the secrets alone, and none without them', () => {
    const config = parseConfig(environment(secrets));
    const { host, port, database } = { ...config.database } as Record<string, unknown>;
    assert.deepEqual({ host, port, database }, { host: 'postgres', port: 5432, database: 'zoneward' });
    assert.equal(config.redisUrl, 'redis://redis:6379');
    assert.equal(config.dataDir, all('VOLUME').at(-1));
    assert.ok(inCidrs('172.30.53.7', config.trustedProxies));
    const [network] = compose.networks.default.ipam.config;
    assert.equal(interpolate(network?.subnet ?? '', {}), '172.30.53.0/24');
    for (const name of Object.keys(secrets)) {
      assert.throws(() => environment({ ...secrets, [name]: '' }), new RegExp(`^Error: ${name}: set it`));
    }
  });

  it('publishes no port by a variable that the service reads', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    const named = published.flatMap((port) => [...port.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name as string));
    assert.deepEqual([...new Set(named)].sort(), ['BIND', 'HTTPS_PORT', 'HTTP_PORT', 'POWERDNS_DNS_PORT']);
    assert.deepEqual(
      named.filter((name) => variables.includes(name)),
      [],
    );
  });

  it('refers to services, volumes and files that exist', () => {
    assert.ok(here(join('deploy', zoneward.build?.context as string, zoneward.build?.dockerfile as string)));
    for (const [name, { depends_on: needs = [], volumes = [], image, build }] of Object.entries(services)) {
      assert.ok(image || build, name);
      for (const need of Array.isArray(needs) ? needs : Object.keys(needs)) assert.ok(services[need], need);
      const exists = (source: string) =>
        source.startsWith('.') ? here(join('deploy', source)) : source in compose.volumes;
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) assert.ok(exists(source), source);
    }
  });

  it('runs two replicas on read-only files behind the proxy, which finds them by name', () => {
    assert.equal(zoneward.deploy?.replicas, 2);
    assert.equal(zoneward.read_only, true);
    const proxy = read('deploy/Caddyfile');
    assert.match(proxy, /name zoneward\n\s*port 3000\n/);
    assert.equal(environment(secrets).PORT, '3000');
    assert.ok(proxy.includes('{$SITE:'));
    assert.equal(interpolate(services.proxy?.environment?.SITE as string, {}), ':80');
  });
});

describe('the systemd unit', () => {
  const unit = read('deploy/zoneward.service');
  const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('starts what the image starts, in the same place of the package', () => {
    assert.deepEqual(values('ExecStart'), [`/usr/bin/env ${command.join(' ')}`]);
    assert.deepEqual(values('WorkingDirectory'), ['/opt/zoneward']);
  });

  it('has its data where the service may write, and only variables that the service reads', () => {
    const set = Object.fromEntries(values('Environment').map((text) => (text as string).split('=')));
    assert.equal(set.DATA_DIR, `/var/lib/${values('StateDirectory')[0]}`);
    assert.deepEqual(values('ProtectSystem'), ['strict']);
    const known = [...variables, 'NODE_ENV', 'MALLOC_ARENA_MAX'];
    assert.deepEqual(
      Object.keys(set).filter((name) => !known.includes(name)),
      [],
    );
  });
});

describe('dashboard and alert rules', () => {
  interface Rules {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  }
  const { groups } = load(read('deploy/prometheus/zoneward.rules.yaml')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(read('deploy/grafana/zoneward.json')) as {
    panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
  };
  const asked = [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
  const metrics = new Metrics();
  metrics.measureProcess(version);
  const known = metrics.all.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[];

  it('ask for metrics and labels that there are', () => {
    assert.ok(rules.length > 5 && panels.length > 10);
    for (const { where, expr } of asked) {
      const names = [...expr.matchAll(/\b(zoneward|nodejs|process)_\w+/g)].map(([name]) => name);
      assert.ok(names.length || expr.startsWith('up{'), where);
      const metrics = names.map((name) => {
        const metric = known.find((one) => one.name === name || one.name === name.replace(/_(bucket|count|sum)$/, ''));
        assert.ok(metric, `${where}: ${name}`);
        assert.equal(name !== metric.name, metric.type === 'histogram', `${where}: ${name}`);
        return metric;
      });
      const labels = [
        ...[...expr.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, list]) => (list as string).split(', ')),
        ...[...expr.matchAll(/\{(\w+)=/g)].map(([, label]) => label as string),
      ];
      const there = ['instance', 'job', 'le', ...metrics.flatMap(({ labelNames }) => labelNames)];
      for (const label of labels) assert.ok(there.includes(label), `${where}: ${label}`);
    }
  });

  it('show every metric that is ours', () => {
    for (const { name } of known.filter((one) => one.name.startsWith('zoneward_')))
      assert.ok(
        asked.some(({ expr }) => expr.includes(name)),
        name,
      );
  });

  it('wake somebody for each trouble that does not end by itself', () => {
    const watched = [
      'zoneward_failover_rules{state="held"}',
      'zoneward_failover_checks_stopped',
      'zoneward_jobs{state="stopped"}',
      'zoneward_redis{state="away"}',
      'zoneward_accounts_paused',
      'zoneward_in_doubt_seconds) > 300',
      'nodejs_eventloop_lag_p99_seconds',
      'zoneward_audit_broken',
      'zoneward_clock_offset_seconds',
    ];
    for (const what of watched)
      assert.ok(
        rules.some(({ expr }) => expr.includes(what)),
        what,
      );
  });

  it('stand on operations.md', () => {
    const page = read('docs/operations.md');
    for (const { alert } of rules) assert.ok(page.includes(`\`${alert}\``), alert);
  });
});

describe('the Helm chart', () => {
  const CHART = 'deploy/helm/zoneward';
  interface Values {
    env: Record<string, string>;
    secret: Record<string, string>;
    [name: string]: unknown;
  }
  const chart = load(read(`${CHART}/Chart.yaml`)) as { appVersion: string; version: string };
  const defaults = () => load(read(`${CHART}/values.yaml`)) as Values;
  const files = readdirSync(join(ROOT, CHART, 'templates'));
  const rendered = (values: Values): Record<string, string> => {
    const scope = {
      Values: values,
      Chart: { AppVersion: chart.appVersion },
      Release: { Name: 'dns', Namespace: 'infra' },
    };
    return Object.fromEntries(files.map((file) => [file, render(read(`${CHART}/templates/${file}`), scope)]));
  };
  // biome-ignore lint/suspicious/noExplicitAny: documents of many kinds
  const documents = (values: Values): Record<string, any> =>
    Object.fromEntries(
      Object.entries(rendered(values))
        .filter(([file]) => file.endsWith('.yaml'))
        .map(([file, text]) => [file.replace('.yaml', ''), yamlOf(text)]),
    );

  it('is of the version of the package', () => {
    assert.deepEqual([chart.appVersion, chart.version], [version, version]);
  });

  it('renders with its values: one pod on SQLite in a volume', () => {
    const { deployment, secret, pvc, service, ingress } = documents(defaults());
    assert.equal(ingress, undefined);
    const [container] = deployment.spec.template.spec.containers;
    assert.equal(container.image, `zoneward:${version}`);
    assert.deepEqual(deployment.spec.strategy, { type: 'Recreate' });
    assert.deepEqual(deployment.spec.template.spec.volumes, [
      { name: 'data', persistentVolumeClaim: { claimName: 'dns' } },
    ]);
    assert.deepEqual(
      [pvc.kind, pvc.metadata.name, pvc.spec.accessModes],
      ['PersistentVolumeClaim', 'dns', ['ReadWriteOnce']],
    );
    assert.deepEqual([secret.kind, secret.metadata.name], ['Secret', 'dns']);
    assert.deepEqual(container.envFrom, [{ secretRef: { name: 'dns' } }]);
    assert.deepEqual(container.resources, defaults().resources);
    assert.deepEqual(service.spec.selector, deployment.spec.selector.matchLabels);
    assert.deepEqual(deployment.spec.template.metadata.labels, deployment.spec.selector.matchLabels);
    assert.equal(service.spec.ports[0].targetPort, container.ports[0].name);
  });

  it('hands on every variable of .env.example, once', () => {
    const { deployment, secret } = documents(defaults());
    const [{ env }] = deployment.spec.template.spec.containers;
    const names = [...env.map((one: { name: string }) => one.name), ...Object.keys(secret.stringData)];
    assert.deepEqual(names.sort(), variables);
    const values = defaults();
    for (const name of Object.keys(values.env)) values.env[name] = `"${name}": yes # {{ }}`;
    Object.assign(values.env, { METRICS_PORT: '9464', POWERDNS_PORT: '8081', DNS_PORT: '5353' });
    const list = documents(values).deployment.spec.template.spec.containers[0].env;
    for (const name of Object.keys(values.env)) {
      assert.equal(list.find((one: { name: string }) => one.name === name).value, values.env[name]);
    }
  });

  it('agrees with the image: user, port, data, health, files that cannot be written', () => {
    const { spec } = documents(defaults()).deployment.spec.template;
    const [container] = spec.containers;
    const { runAsUser, runAsGroup, fsGroup, runAsNonRoot } = spec.securityContext;
    assert.equal(`${runAsUser}:${runAsGroup}`, last('USER'));
    assert.deepEqual([fsGroup, runAsNonRoot], [runAsGroup, true]);
    assert.equal(String(container.ports[0].containerPort), last('EXPOSE'));
    assert.equal(container.volumeMounts[0].mountPath, last('VOLUME'));
    assert.equal(container.securityContext.readOnlyRootFilesystem, true);
    const health = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet.path);
    assert.deepEqual(health, ['/health/live', '/health/live', '/health/ready']);
    for (const path of health) assert.ok(read('src/http/health.controller.ts').includes(`@Get('${path.slice(8)}')`));
  });

  it('starts other pods when a secret is another one', () => {
    const annotations = (values: Values) => documents(values).deployment.spec.template.metadata.annotations;
    const values = defaults();
    values.secret.METRICS_TOKEN = 'another-token-0123456789';
    const [before, after] = [annotations(defaults()), annotations(values)];
    assert.match(before['checksum/secret'], /^[0-9a-f]{64}$/);
    assert.notEqual(after['checksum/secret'], before['checksum/secret']);
    assert.equal(annotations({ ...values, existingSecret: 'mine' }), undefined);
  });

  it('spreads its pods over nodes, gives them time to drain, and lets one go at a time', () => {
    const { deployment, poddisruptionbudget: budget } = documents(defaults());
    const { spec, metadata } = deployment.spec.template;
    const [spread] = spec.topologySpreadConstraints;
    assert.deepEqual(
      [spread.topologyKey, spread.labelSelector.matchLabels],
      ['kubernetes.io/hostname', metadata.labels],
    );
    assert.ok(spec.terminationGracePeriodSeconds * 1000 >= parseConfig({}).drainMs + 50_000);
    assert.deepEqual([budget.spec.maxUnavailable, budget.spec.selector.matchLabels], [1, metadata.labels]);
  });

  it('opens the ports of the metrics, of the door powerdns and of DNS messages where there are such', () => {
    const values = defaults();
    const ports = () => {
      const { deployment, service } = documents(values);
      const { ports } = deployment.spec.template.spec.containers[0];
      return [ports.map((port: { containerPort: number }) => port.containerPort), service.spec.ports.length];
    };
    assert.deepEqual(ports(), [[3000], 1]);
    Object.assign(values.env, { METRICS_PORT: '9464', POWERDNS_PORT: '8081', DNS_PORT: '5353' });
    assert.deepEqual(ports(), [[3000, 5353, 5353, 9464, 8081], 5]);
    const targets = documents(values).service.spec.ports.map((port: { targetPort: string }) => port.targetPort);
    assert.deepEqual(targets, ['http', 'dns', 'dns-tcp', 'metrics', 'powerdns']);
  });

  it('renders the other ways: no volume, a Secret of theirs, an ingress with TLS', () => {
    const values = defaults();
    Object.assign(values, { replicas: 3, existingSecret: 'mine' });
    Object.assign(values.persistence as object, { enabled: false });
    Object.assign(values.image as object, { tag: 'a1b2' });
    Object.assign(values.ingress as object, {
      enabled: true,
      className: 'nginx',
      tlsSecret: 'tls',
      annotations: { a: 'b' },
    });
    const { deployment, secret, pvc, ingress } = documents(values);
    assert.deepEqual([secret, pvc], [undefined, undefined]);
    assert.deepEqual([deployment.spec.replicas, deployment.spec.strategy], [3, { type: 'Recreate' }]);
    const [container] = deployment.spec.template.spec.containers;
    assert.equal(container.image, 'zoneward:a1b2');
    assert.deepEqual(container.envFrom, [{ secretRef: { name: 'mine' } }]);
    assert.deepEqual(deployment.spec.template.spec.volumes, [{ name: 'data', emptyDir: {} }]);
    assert.deepEqual(ingress.metadata.annotations, { a: 'b' });
    assert.equal(ingress.spec.ingressClassName, 'nginx');
    assert.deepEqual(ingress.spec.tls, [{ hosts: ['zoneward.example.com'], secretName: 'tls' }]);
    assert.equal(ingress.spec.rules[0].http.paths[0].backend.service.name, 'dns');
    assert.deepEqual(
      documents({ ...values, persistence: { ...(defaults().persistence as object), storageClass: 'fast' } }).pvc.spec
        .storageClassName,
      'fast',
    );
  });

  it('says afterwards how to reach it', () => {
    const values = defaults();
    assert.match(rendered(values)['NOTES.txt'] as string, /port-forward service\/dns 3000:80\n/);
    Object.assign(values.ingress as object, { enabled: true });
    assert.match(rendered(values)['NOTES.txt'] as string, /reached at zoneward\.example\.com\/\./);
  });

  it('is read here by a renderer that refuses what it does not know', () => {
    for (const template of ['{{ .Values.x | upper }}', '{{ include "a" . }}', '{{ .Values.y }}', '{{ if .Values.x }}'])
      assert.throws(() => render(template, { Values: { x: 1 } }), template);
    assert.equal(render('a:\n  {{- if not .x }}\n  b\n  {{- else }}\n  c\n  {{- end }}\n', { x: 1 }), 'a:\n  c\n');
  });
});
