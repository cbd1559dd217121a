import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { BootedHost } from './host-power.ts';
import { dataUrlText, discoveryOrder, readIgnition } from './ignition-config.ts';
import { environmentOf, kubeletFailure, labelsOf, metadataEnv, scriptedIdentity } from './node-identity.ts';
import { relocated } from './script-root.ts';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'slipway-identity-'));
after(() => rmSync(DIRECTORY, { recursive: true }));

const HOST: BootedHost = {
  id: '12345678-1234-4234-8234-123456789012',
  namespace: 'metal',
  name: 'bmh-1',
  macAddresses: [],
  architecture: 'amd64',
  boot: { from: 'disk', userData: '' },
  metadata: { uuid: 'u-1', name: 'node-1', 'local-hostname': 'node-1.example.com' },
};

type Scripts = Readonly<Record<string, string>>;

const UNITS: Scripts = {
  'configdrive-metadata.service': '/usr/local/bin/configdrive_metadata',
  'kubelet-customlabels.service': '/usr/local/bin/kubelet_custom_labels',
  'set-hostname.service': '/bin/bash /usr/local/bin/set_hostname',
  'capoa-inject-provider-id.service': '/usr/local/bin/inject-provider-id',
  'capoa-pre-bootstrap.service': '/usr/local/bin/capoa-pre-bootstrap.sh',
};

/** An ignition config with these scripts, by unit. */
const ignition = (scripts: Scripts): string =>
  JSON.stringify({
    ignition: { version: '3.1.0' },
    storage: {
      files: Object.entries(scripts).map(([unit, text]) => ({
        path: UNITS[unit]?.split(' ').at(-1),
        mode: 493,
        contents: {
          source: `data:text/plain;charset=utf-8;base64,${Buffer.from(`#!/bin/bash\n${text}\n`).toString('base64')}`,
        },
      })),
    },
    systemd: {
      units: Object.keys(scripts).map((name) => ({
        name,
        enabled: true,
        contents: [
          '[Service]',
          ...(name === 'kubelet-customlabels.service' ? ['EnvironmentFile=/etc/metadata_env'] : []),
          `ExecStart=${UNITS[name]}`,
        ].join('\n'),
      })),
    },
  });

const identify = (scripts: Scripts, options: { readonly programDirectories?: readonly string[] } = {}) =>
  scriptedIdentity({ directory: DIRECTORY, ...options })({ host: HOST, ignition: [ignition(scripts)] });

const METADATA = { 'configdrive-metadata.service': 'exit 1' };
const LABELS = 'kubelet-customlabels.service';
const HOSTNAME = 'set-hostname.service';
const PROVIDER_ID = 'capoa-inject-provider-id.service';

/** In the way of the provider in Go: variables are read with grep and cut, and written with echo and tee. */
const READ_UUID = [
  'METADATA_UUID=""',
  'if [ -f /etc/metadata_env ]; then',
  '  METADATA_UUID=$(/usr/bin/grep "^METADATA_UUID=" /etc/metadata_env | /usr/bin/cut -d\'=\' -f2-)',
  'fi',
].join('\n');
const writeLabels = (labels: string) =>
  `echo "CUSTOM_KUBELET_LABELS=${labels}" | tee -a /etc/kubernetes/kubelet-env >/dev/null`;
/** In the same way: from a file, with variables, into the command of the kubelet as systemd has it. */
const INJECT = [
  'set -euo pipefail',
  'FILE=/run/kubelet-provider-id',
  'DROPIN_DIR=/etc/systemd/system/kubelet.service.d',
  'ID=$(cat "$FILE" 2>/dev/null) || true',
  '[ -n "$ID" ] || exit 0',
  'if [ -f /etc/metadata_env ]; then set -a; source /etc/metadata_env; set +a; ID=$(eval echo "$ID"); fi',
  'START=$(systemctl cat kubelet.service | awk \'/^ExecStart=/ { sub(/^ExecStart=/, ""); cmd = $0; while (cmd ~ /\\\\$/) { sub(/\\\\$/, "", cmd); if (getline > 0) cmd = cmd $0 } print cmd }\' | tail -1)',
  'echo "$START" | grep -q -- "--provider-id" && exit 0',
  'mkdir -p "$DROPIN_DIR"',
  'cat > "$DROPIN_DIR/20-provider-id.conf" <<EOF',
  '[Service]',
  'ExecStart=',
  'ExecStart=${START} --provider-id="${ID}"',
  'EOF',
  'systemctl daemon-reload',
].join('\n');

describe('what the scripts of a host say about it', () => {
  it('agent/I4: labels with and without variables', async () => {
    const script = [READ_UUID, writeLabels('metal3.io/uuid=${METADATA_UUID},example.com/x=y')].join('\n');
    const { labels, hostname, problems } = await identify({ ...METADATA, [LABELS]: script });
    assert.deepEqual(labels, { 'metal3.io/uuid': 'u-1', 'example.com/x': 'y' });
    assert.deepEqual([hostname, problems], ['bmh-1', []]);
  });

  it('agent/I4: variables of the unit are known, too', async () => {
    const { labels } = await identify({ ...METADATA, [LABELS]: writeLabels('a=x-$METADATA_NAME') });
    assert.deepEqual(labels, { a: 'x-node-1' });
  });

  it('agent/I4: no labels, though the line is there', async () => {
    assert.deepEqual((await identify({ ...METADATA, [LABELS]: writeLabels('') })).labels, {});
  });

  it('agent/I5: the name', async () => {
    const script = [
      'NAME=$(/usr/bin/grep "^METADATA_LOCAL_HOSTNAME=" /etc/metadata_env | /usr/bin/cut -d= -f2-)',
      'if [ -n "$NAME" ]; then /usr/bin/hostnamectl set-hostname "$NAME"; fi',
    ].join('\n');
    assert.equal((await identify({ ...METADATA, [HOSTNAME]: script })).hostname, 'node-1.example.com');
  });

  const IDS: readonly (readonly [given: string, want: string | undefined])[] = [
    ["'metal3://metal/$METADATA_NAME/x'", 'metal3://metal/node-1/x'],
    ['"static:///1"', 'static:///1'],
    ["''", undefined],
  ];
  for (const [given, want] of IDS) {
    it(`agent/I8: a provider ID that is ${want} from ${given}`, async () => {
      const labels = [writeLabels(''), `echo ${given} > /run/kubelet-provider-id`].join('\n');
      const { providerId, problems } = await identify({ ...METADATA, [LABELS]: labels, [PROVIDER_ID]: INJECT });
      assert.deepEqual([providerId, problems], [want, []]);
    });
  }

  it('agent/X24: a script that is broken writes what it came to, and the machine goes on', async () => {
    const broken = [
      writeLabels('a=b'),
      `echo "KUBELET_PROVIDERID='"'" >> /etc/kubernetes/kubelet-env`,
      'echo x > /run/x',
    ];
    const { labels, providerId, problems } = await identify({
      ...METADATA,
      [LABELS]: broken.join('\n'),
      [PROVIDER_ID]: INJECT,
    });
    assert.deepEqual([labels, providerId], [{ a: 'b' }, undefined]);
    assert.match(problems.join(), /^kubelet-customlabels\.service: exit code 2: .*unexpected EOF/);
  });

  it('agent/X24: text that is run finds few programs', async () => {
    const { labels, problems } = await identify({ ...METADATA, [LABELS]: writeLabels('a=x$(rm -rf /tmp/none)') });
    assert.deepEqual([labels, problems], [{ a: 'x' }, []]);
  });

  it('agent/I3: a unit whose environment is missing does not run', async () => {
    const { labels, problems } = await identify({ [LABELS]: writeLabels('a=b') });
    assert.deepEqual(labels, {});
    assert.deepEqual(problems, ['kubelet-customlabels.service: /etc/metadata_env is not there']);
  });

  it('agent/I6: other units are named and not run', async () => {
    const { notRun, hostname } = await identify({
      'capoa-pre-bootstrap.service': 'hostnamectl set-hostname never',
    });
    assert.deepEqual([notRun, hostname], [['capoa-pre-bootstrap.service'], 'bmh-1']);
  });

  it('agent/I9: later ignition holds, and what is none says nothing', async () => {
    const name = (text: string) => ignition({ [HOSTNAME]: `hostnamectl set-hostname ${text}` });
    const { hostname } = await scriptedIdentity({ directory: DIRECTORY })({
      host: HOST,
      ignition: [name('first'), 'no json', name('second'), ''],
    });
    assert.equal(hostname, 'second');
  });

  it('says that bash is missing', async () => {
    await assert.rejects(identify({ [HOSTNAME]: 'true' }, { programDirectories: ['/nowhere'] }), {
      reason: 'BashMissing',
      message: /there is none in \/nowhere; install bash/,
    });
  });

  it('leaves nothing behind, and writes nowhere else', async () => {
    const outside = JSON.stringify({
      ignition: { version: '3.1.0' },
      storage: { files: [{ path: '/../../evil', contents: { source: 'data:,x' } }] },
      systemd: { units: [{ name: HOSTNAME, enabled: true, contents: 'ExecStart=/usr/local/bin/x' }] },
    });
    const identity = scriptedIdentity({ directory: DIRECTORY })({ host: HOST, ignition: [outside] });
    await assert.rejects(identity, { reason: 'PathOutsideOfHost' });
    assert.deepEqual(readdirSync(DIRECTORY), []);
  });

  it('keeps lab time still meanwhile', async () => {
    const held: string[] = [];
    const hold = (reason: string) => {
      held.push(reason);
      return { [Symbol.dispose]: () => void held.push('free') };
    };
    await scriptedIdentity({ directory: DIRECTORY, hold })({ host: HOST, ignition: [] });
    assert.deepEqual(held, ['the scripts of host bmh-1', 'free']);
  });
});

describe('texts of a host', () => {
  const LINES: readonly (readonly [given: string, want: string])[] = [
    ['#!/usr/bin/env bash', '#!/usr/bin/env bash'],
    ['cat /etc/x > /run/y 2>/dev/null', 'cat ./etc/x > ./run/y 2>/dev/null'],
    ['A=/var/lib/z', 'A=./var/lib/z'],
    ['/usr/bin/grep x /usr/local/bin/y', 'grep x ./usr/local/bin/y'],
    ['/bin/rm -rf /', 'rm -rf /'],
    ['echo "aws:///etc/run/x"', 'echo "aws:///etc/run/x"'],
    ['"$A/etc/x"', '"$A/etc/x"'],
  ];
  for (const [given, want] of LINES) it(`runs ${given} as ${want}`, () => assert.equal(relocated(given), want));

  it('agent/I3: metadata as variables', () => {
    assert.equal(
      metadataEnv({ uuid: 'u=1', 'local-hostname': 'h', local_hostname: 'h', a: '' }),
      'METADATA_A=\nMETADATA_LOCAL_HOSTNAME=h\nMETADATA_UUID=u=1\n',
    );
    assert.equal(metadataEnv({}), '');
  });

  it('reads environment files as systemd does', () => {
    const found = environmentOf('A=1\n# B=2\nA="3 4"\nnonsense\nC=\'x\'\n');
    assert.deepEqual(Object.fromEntries(found), { A: '3 4', C: 'x' });
  });

  it('reads labels as the kubelet does', () => {
    assert.deepEqual(labelsOf('a=b,,c,d=e=f'), { a: 'b', c: '', d: 'e=f' });
    assert.equal(kubeletFailure('n', { a: 'b' }), undefined);
    assert.match(kubeletFailure('N!', {}) ?? '', /no name of a node/);
    assert.match(kubeletFailure('n', { a: '$(x)' }) ?? '', /a=\$\(x\)/);
  });

  const URLS: readonly (readonly [url: string, want: string | undefined])[] = [
    ['data:,a%20b', 'a b'],
    ['data:text/plain;charset=utf-8;base64,YQ==', 'a'],
    ['data:,%', undefined],
    ['https://example.com/x', undefined],
  ];
  for (const [url, want] of URLS) it(`reads ${url} as ${want}`, () => assert.equal(dataUrlText(url), want));

  it('agent/S17: finds who a host talks to, and nobody where there is no agent', () => {
    const order = (contents: string) =>
      discoveryOrder({ files: [], units: [{ name: 'agent.service', isEnabled: true, contents }] });
    assert.deepEqual(order('Environment=PULL_SECRET_TOKEN=t\nExecStart=/a --url http://x --infra-env-id i --b'), {
      url: 'http://x',
      infraEnvId: 'i',
      token: 't',
    });
    assert.deepEqual(order('ExecStart=/a --url=http://x --infra-env-id=i'), { url: 'http://x', infraEnvId: 'i' });
    assert.equal(order('ExecStart=/a'), undefined);
    assert.equal(discoveryOrder({ files: [], units: [] }), undefined);
    for (const text of ['', '[]', '{}', '{"ignition":{}}']) assert.equal(readIgnition(text), undefined);
  });
});
