import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ACME_METADATA, acmeDefinition, plainDefinition } from '../../../test/support/acme-definition.ts';
import { type Outcome, outcomeOf, scratchDirectory } from '../../../test/support/scratch.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { MetadataFacts } from '../../sdk/capabilities/metadata.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { butane, machineConfig, machineConfigFile } from './machine-config.ts';
import { DROP_IN, providerIdScript } from './provider-id-script.ts';

const definitionWith = (metadata: MetadataFacts, format = '{zone}/{id}'): ProviderDefinition =>
  acmeDefinition({
    providerID: { scheme: 'acme', format, pattern: /^acme:\/\/.+$/ },
    capabilities: { metadata: { declare: () => metadata } },
  });

function scriptOf(definition: ProviderDefinition): string {
  const script = providerIdScript(definition);
  assert.ok('text' in script, JSON.stringify(script));
  return script.text;
}

interface Machine extends AsyncDisposable {
  /** Instead of `/`. */
  readonly root: string;
  /** What was asked, as `METHOD path`. */
  readonly asked: readonly string[];
  readonly port: number;
  /** Runs the script as systemd would. */
  boot(script: string): Promise<Outcome>;
  /** How often units were read again. */
  reloads(): Promise<number>;
  dropIn(): Promise<string>;
}

/** A machine with a metadata service that answers like this; undefined: it does not know the path. */
async function machineWith(
  answer: (path: string, request: IncomingMessage, response: ServerResponse) => string | undefined,
): Promise<Machine> {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const asked: string[] = [];
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`);
    const text = answer(request.url ?? '', request, response);
    if (!response.headersSent) response.writeHead(text === undefined ? 404 : 200);
    response.end(text);
  };
  const server = stack.adopt(createServer(respond).listen(0, '127.0.0.1'), async (one) => {
    one.closeAllConnections();
    await new Promise((done) => void one.close(done));
  });
  await new Promise((done) => void server.once('listening', done));
  const [bin, root] = [join(scratch.path, 'bin'), join(scratch.path, 'root')];
  await Promise.all([mkdir(bin), mkdir(root)]);
  const calls = join(scratch.path, 'calls');
  await program(join(bin, 'systemctl'), `echo "$*" >>'${calls}'`);
  // Nobody waits for a test.
  await program(join(bin, 'sleep'), 'exit 0');
  const owned = stack.move();
  return {
    root,
    asked,
    port: (server.address() as AddressInfo).port,
    boot: async (script) => {
      const file = join(scratch.path, 'kubelet-providerid');
      await program(file, script.replace('#!/bin/bash\n', ''));
      // A proxy that does not exist: metadata must never be asked for through one.
      const proxy = 'http://127.0.0.1:1';
      const variables = { PATH: `${bin}:/usr/bin:/bin`, KUBELET_PROVIDERID_ROOT: root, http_proxy: proxy };
      return outcomeOf(file, [], variables);
    },
    reloads: async () =>
      existsSync(calls) ? (await readFile(calls, 'utf8')).split('daemon-reload\n').length - 1 : 0,
    dropIn: () => readFile(join(root, DROP_IN), 'utf8'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function program(path: string, text: string): Promise<void> {
  await writeFile(path, `#!/bin/bash\n${text}\n`);
  await chmod(path, 0o755);
}

/** Used where it is; nothing is installed for it. */
const SHELL_LINTER = 'shellcheck';

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const onLoopback = (port: number, facts: Partial<MetadataFacts> = {}): MetadataFacts => ({
  addresses: ['127.0.0.1'],
  port,
  paths: { instanceId: '/id', zone: '/zone' },
  ...facts,
});

const ANSWERS: Readonly<Record<string, string>> = { '/id': ' i-42\n', '/zone': 'north\n' };
const openHanded = (path: string): string | undefined => ANSWERS[path];

describe('the script that gives the kubelet its provider ID', () => {
  it('ccm/O14: writes the drop-in of the kubelet from what the metadata service says', async () => {
    await using machine = await machineWith(openHanded);
    const { code, stderr } = await machine.boot(scriptOf(definitionWith(onLoopback(machine.port))));
    assert.equal(code, 0, stderr);
    assert.equal(await machine.dropIn(), '[Service]\nEnvironment="KUBELET_PROVIDERID=acme://north/i-42"\n');
    assert.deepEqual(machine.asked, ['GET /id', 'GET /zone']);
    assert.equal((await stat(join(machine.root, DROP_IN))).mode & 0o777, 0o644);
  });

  it('ccm/O15: has systemd read it, and leaves nothing else behind', async () => {
    await using machine = await machineWith(openHanded);
    await machine.boot(scriptOf(definitionWith(onLoopback(machine.port))));
    assert.equal(await machine.reloads(), 1);
    assert.deepEqual(await readdir(join(machine.root, dirname(DROP_IN))), ['20-providerid.conf']);
  });

  it('ccm/O14: asks nobody when the drop-in is there', async () => {
    await using machine = await machineWith(openHanded);
    const script = scriptOf(definitionWith(onLoopback(machine.port)));
    await machine.boot(script);
    const before = machine.asked.length;
    assert.equal((await machine.boot(script)).code, 0);
    assert.deepEqual([machine.asked.length, await machine.reloads()], [before, 1]);
  });

  it('ccm/O15: shows a token where metadata is protected by one, and the headers that the cloud wants', async () => {
    const seen: string[] = [];
    await using machine = await machineWith((path, { method, headers }) => {
      seen.push(['metadata-flavor', 'x-token-seconds', 'x-token'].map((name) => headers[name] ?? '-').join(' '));
      if (path === '/v1/token') return method === 'PUT' ? 's3cret' : undefined;
      if (headers['x-token'] !== 's3cret') return undefined;
      return path === '/v1/instance/id' ? 'i-42' : 'north';
    });
    const facts = { ...ACME_METADATA, addresses: ['127.0.0.1'], port: machine.port };
    const { code, stderr } = await machine.boot(scriptOf(definitionWith(facts)));
    assert.equal(code, 0, stderr);
    assert.match(await machine.dropIn(), /acme:\/\/north\/i-42"/);
    assert.deepEqual(machine.asked, ['PUT /v1/token', 'GET /v1/instance/id', 'GET /v1/instance/zone']);
    assert.deepEqual(seen, ['acme 60 -', 'acme - s3cret', 'acme - s3cret']);
  });

  it('ccm/O15: asks again while the service is not ready, and tries its other addresses', async () => {
    let refusals = 3;
    await using machine = await machineWith((path) => (refusals-- > 0 ? undefined : ANSWERS[path]));
    const facts = onLoopback(machine.port, { addresses: ['127.0.0.2', '127.0.0.1'] });
    assert.equal((await machine.boot(scriptOf(definitionWith(facts)))).code, 0);
    assert.match(await machine.dropIn(), /acme:\/\/north\/i-42"/);
  });

  const silent = [
    { name: 'is empty', answers: { '/id': '', '/zone': 'north' } },
    { name: 'is blank', answers: { '/id': ' \n', '/zone': 'north' } },
    { name: 'is missing', answers: { '/zone': 'north' } },
  ] as const;
  for (const { name, answers } of silent) {
    it(`ccm/O15: gives up, with an error and without a drop-in, when the id ${name}`, async () => {
      await using machine = await machineWith((path) => (answers as Readonly<Record<string, string>>)[path]);
      const { code, stderr } = await machine.boot(scriptOf(definitionWith(onLoopback(machine.port))));
      assert.equal(code, 1);
      assert.match(stderr, /has not said who this machine is, asked 30 times\n$/);
      assert.equal(machine.asked.length, 30);
      assert.equal(existsSync(join(machine.root, DROP_IN)), false);
      assert.equal(await machine.reloads(), 0);
    });
  }

  for (const id of ['<html>no such page</html>', 'one two', 'a"\nExecStart=/bin/sh', '%n', 'a\\x41']) {
    it(`ccm/O15: refuses ${JSON.stringify(id)} as an id`, async () => {
      await using machine = await machineWith((path) => (path === '/id' ? id : 'north'));
      const { code, stderr } = await machine.boot(scriptOf(definitionWith(onLoopback(machine.port))));
      assert.equal(code, 1);
      assert.match(stderr, /answers what no provider ID can hold/);
      assert.equal(existsSync(join(machine.root, DROP_IN)), false);
    });
  }

  it('ccm/O14: asks for the very path of the definition, whatever curl makes of such characters', async () => {
    const path = '/{id,name}/[1-3]';
    await using machine = await machineWith((asked) => (asked === path ? 'i-42' : undefined));
    const facts = onLoopback(machine.port, { paths: { instanceId: path } });
    const { code, stderr } = await machine.boot(scriptOf(definitionWith(facts, '{id}')));
    assert.equal(code, 0, stderr);
    assert.deepEqual(machine.asked, [`GET ${path}`]);
  });

  it('ccm/O15: takes the text beside a redirection for no id', async () => {
    await using machine = await machineWith((path, _request, response) => {
      if (path === '/id') response.writeHead(302, { location: '/login' });
      return path === '/login' ? 'welcome' : 'moved';
    });
    const { code } = await machine.boot(scriptOf(definitionWith(onLoopback(machine.port))));
    assert.equal(code, 1);
    assert.deepEqual(new Set(machine.asked), new Set(['GET /id']));
    assert.equal(existsSync(join(machine.root, DROP_IN)), false);
  });

  it('ccm/O14: does not ask for the zone when provider IDs have none', async () => {
    await using machine = await machineWith(openHanded);
    await machine.boot(scriptOf(definitionWith(onLoopback(machine.port), '{id}')));
    assert.match(await machine.dropIn(), /acme:\/\/i-42"/);
    assert.deepEqual(machine.asked, ['GET /id']);
  });

  it('ccm/O14: is bash whatever the facts hold', () => {
    const words = fc.string({ minLength: 1, unit: 'grapheme-ascii' });
    const hostile = fc.constantFrom("'; touch /broken; '", '$(touch /broken)', '`touch /broken`', '"', '\\');
    const text = fc.oneof(words, hostile).filter((word) => word.trim() !== '');
    const path = text.map((word) => `/${word.replaceAll(/\s/g, '')}`);
    fc.assert(
      fc.property(
        fc.record({ id: path, token: path, header: text, value: text }),
        ({ id, token, header, value }) => {
          const script = scriptOf(
            definitionWith({
              addresses: ['fd00::1'],
              headers: { [header]: value },
              token: { path: token, method: 'GET', header: value },
              paths: { instanceId: id, zone: id },
            }),
          );
          execFileSync('bash', ['-n'], { input: script });
          assert.ok(script.includes("'http://[fd00::1]'"));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('ccm/O14: takes the facts as text and never as commands', async () => {
    const command = 'touch "$KUBELET_PROVIDERID_ROOT/broken"';
    const value = `'; ${command}; ' $(${command}) \`${command}\``;
    const seen: unknown[] = [];
    await using machine = await machineWith((path, { headers }) => {
      seen.push(headers['x-odd']);
      return path === '/zone' ? 'north' : 'i-42';
    });
    const facts = onLoopback(machine.port, {
      headers: { 'X-Odd': value },
      paths: { instanceId: '/$(touch${IFS}$KUBELET_PROVIDERID_ROOT/broken)', zone: '/zone' },
    });
    const { code, stderr } = await machine.boot(scriptOf(definitionWith(facts)));
    assert.equal(code, 0, stderr);
    assert.deepEqual(seen, [value, value]);
    assert.deepEqual(await readdir(machine.root), ['etc']);
  });

  const lint = { skip: hasProgram(SHELL_LINTER) ? false : `${SHELL_LINTER} is not on the PATH` };
  it('ccm/O14: is found good by shellcheck', lint, () => {
    for (const definition of [acmeDefinition(), definitionWith(onLoopback(80), '{id}')]) {
      // A loop over one address is no mistake: other definitions have several.
      execFileSync(SHELL_LINTER, ['--shell=bash', '--exclude=SC2041,SC2043', '-'], {
        input: scriptOf(definition),
      });
    }
  });

  const cases = [
    { name: 'no metadata service', definition: plainDefinition(), want: /no metadata capability/ },
    {
      name: 'a zone that machines cannot find out',
      definition: definitionWith({ ...ACME_METADATA, paths: { instanceId: '/id' } }),
      want: /no path for it/,
    },
    {
      name: 'provider IDs that systemd would misread',
      definition: definitionWith(ACME_METADATA, '%n/{id}'),
      want: /hold "%"/,
    },
  ];
  for (const { name, definition, want } of cases) {
    it(`ccm/O13: is not made for ${name}, which is said`, () => {
      const script = providerIdScript(definition);
      assert.match('missing' in script ? script.missing : '', want);
    });
  }
});

interface Ignition {
  readonly ignition: { readonly version: string };
  readonly storage: {
    readonly files: readonly {
      readonly path: string;
      readonly mode: number;
      readonly contents: { readonly source?: string; readonly inline?: string };
    }[];
  };
  readonly systemd: {
    readonly units: readonly { readonly name: string; readonly enabled: boolean; readonly contents: string }[];
  };
}

describe('the MachineConfig with the provider ID', () => {
  const script = scriptOf(acmeDefinition());
  const configOf = (role: 'master' | 'worker'): Ignition =>
    (machineConfig(role, script) as unknown as { readonly spec: { readonly config: Ignition } }).spec.config;

  for (const role of ['master', 'worker'] as const) {
    it(`ccm/O13: is for every ${role}, under the name that the installer knows`, () => {
      const { metadata } = machineConfig(role, script);
      assert.equal(metadata.labels?.['machineconfiguration.openshift.io/role'], role);
      assert.equal(machineConfigFile(role), `99_openshift-machineconfig_00-${role}-kubelet-providerid`);
    });

    it(`ccm/O14: says the same to a ${role} as the Butane file`, () => {
      const { ignition, storage, systemd } = configOf(role);
      const source = parseYaml(butane(role, script)) as Ignition & { readonly variant: string };
      assert.equal(source.variant, 'openshift');
      assert.equal(ignition.version, '3.2.0');
      assert.deepEqual(source.systemd, systemd);
      const [file] = storage.files;
      const [, encoded = ''] = file?.contents.source?.split(';base64,') ?? [];
      assert.equal(Buffer.from(encoded, 'base64').toString(), script);
      assert.equal(source.storage.files[0]?.contents.inline, script);
    });
  }

  it('ccm/O14: puts an executable script beside a unit that runs it once, before the kubelet', () => {
    const { storage, systemd } = configOf('master');
    const [file] = storage.files;
    assert.deepEqual([file?.path, file?.mode], ['/usr/local/bin/kubelet-providerid', 0o755]);
    const [unit] = systemd.units;
    assert.deepEqual([unit?.name, unit?.enabled], ['kubelet-providerid.service', true]);
    const lines = unit?.contents.split('\n') ?? [];
    for (const line of [
      'Type=oneshot',
      'ExecStart=/usr/local/bin/kubelet-providerid',
      'After=NetworkManager-wait-online.service',
      'WantedBy=network-online.target',
    ]) {
      assert.ok(lines.includes(line), line);
    }
  });

  it('ccm/O15: is ordered before what the kubelet depends on', () => {
    assert.match(
      configOf('worker').systemd.units[0]?.contents ?? '',
      /^Before=kubelet-dependencies\.target kubelet\.service$/m,
    );
  });
});
