import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { contentsOf, IgnitionNode } from '../../../../test/support/ignition-node.ts';
import type { OpenshiftAssistedConfigSpec } from '../../../api/agent/bootstrap-v1alpha2.ts';
import { installIgnition } from '../install-ignition.ts';

const LABELS = '/usr/local/bin/kubelet_custom_labels';
const INJECTOR = '/usr/local/bin/inject-provider-id';
const HOSTNAME = '/usr/local/bin/set_hostname';
const CONFIG_DRIVE = '/usr/local/bin/configdrive_metadata';
const PRE = '/usr/local/bin/capoa-pre-bootstrap.sh';
const POST = '/usr/local/bin/capoa-post-bootstrap.sh';
const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-provider-id.conf';

type Registration = NonNullable<OpenshiftAssistedConfigSpec['nodeRegistration']>;

const scriptOf = (spec: OpenshiftAssistedConfigSpec, path: string): string =>
  contentsOf(installIgnition(spec, undefined)).scripts.get(path) ?? assert.fail(`there is no ${path}`);
const registered = (nodeRegistration: Registration, path: string): string => scriptOf({ nodeRegistration }, path);

/** Each would leave a file in the current directory if a shell ran it. */
const HOSTILE = [
  '$(touch pwned)',
  '`touch pwned`',
  '"; touch pwned; "',
  "'; touch pwned; '",
  "it's",
  'a;touch pwned',
  'a && touch pwned',
  'a\ntouch pwned\nb',
  '${x:-$(touch pwned)}',
  '$((1+1))',
  'back\\slash\\\\n\\',
  '-n',
  '-e \\x41',
  '* ? [a-z] ~ {a,b} !! # > pwned < x | y & z',
  'ümläut €',
];

const METADATA = [
  'METADATA_NAME=bmh-vm-03',
  'METADATA_UUID=0854b65a-42ec',
  'METADATA_EVIL=$(touch pwned) `touch pwned` "; touch pwned; " \'x\' $METADATA_NAME \\n',
  'METADATA_OPTION=-n',
  'METADATA_EQUAL=a=b=c',
  'METADATA_TWICE=first',
  'METADATA_TWICE=second',
  'XMETADATA_UUID=wrong',
  '$(touch pwned)',
  '',
].join('\n');
const EVIL = '$(touch pwned) `touch pwned` "; touch pwned; " \'x\' $METADATA_NAME \\n';

async function assertNothingRan(node: IgnitionNode): Promise<void> {
  assert.deepEqual(await readdir(node.home), []);
}

/** What the labels script leaves in the file that kubelet's unit reads. */
async function kubeletEnv(nodeRegistration: Registration, metadata: string | undefined = METADATA) {
  await using node = await IgnitionNode.create();
  if (metadata !== undefined) await node.write('/etc/metadata_env', metadata);
  const { code, stderr } = await node.run(registered(nodeRegistration, LABELS));
  await assertNothingRan(node);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return { env: await node.read('/etc/kubernetes/kubelet-env'), id: await node.read('/run/kubelet-provider-id') };
}

describe('kubelet_custom_labels', () => {
  it('agent/I4: two labels and the provider ID share a variable, which is read once', async () => {
    const nodeRegistration = {
      kubeletExtraLabels: ['node-id=$METADATA_UUID', 'metal3.io/uuid=${METADATA_UUID}', 'zone=east'],
      providerID: '$METADATA_UUID',
    };
    const script = registered(nodeRegistration, LABELS);
    assert.equal(script.split('METADATA_UUID=$(/usr/bin/grep "^METADATA_UUID=" /etc/metadata_env').length, 2);
    assert.match(script, /^METADATA_UUID=""$/m);
    assert.match(
      script,
      /"CUSTOM_KUBELET_LABELS=node-id=\$\{METADATA_UUID\},metal3\.io\/uuid=\$\{METADATA_UUID\},zone=east"/,
    );
    const { env, id } = await kubeletEnv(nodeRegistration);
    const uuid = '0854b65a-42ec';
    const labels = `CUSTOM_KUBELET_LABELS=node-id=${uuid},metal3.io/uuid=${uuid},zone=east`;
    assert.equal(env, `${labels}\nKUBELET_PROVIDERID=${uuid}\n`);
    assert.equal(id, `${uuid}\n`);
  });

  it('agent/I4: writes the line of labels also when there is only a provider ID', async () => {
    const { env, id } = await kubeletEnv({ providerID: ' metal3://x ' });
    assert.equal(env, 'CUSTOM_KUBELET_LABELS=\nKUBELET_PROVIDERID=metal3://x\n');
    assert.equal(id, 'metal3://x\n');
  });

  it('agent/I4: appends to what is there', async () => {
    await using node = await IgnitionNode.create();
    await node.write('/etc/kubernetes/kubelet-env', 'A=b\n');
    await node.run(registered({ kubeletExtraLabels: ['a=b'] }, LABELS));
    assert.equal(await node.read('/etc/kubernetes/kubelet-env'), 'A=b\nCUSTOM_KUBELET_LABELS=a=b\n');
    assert.equal(await node.read('/run/kubelet-provider-id'), undefined);
  });

  it('agent/I4: variables are empty without metadata', async () => {
    const { env } = await kubeletEnv({ kubeletExtraLabels: ['a=$METADATA_X', 'b=x-$Y'], providerID: '$Z' }, '');
    assert.equal(env, 'CUSTOM_KUBELET_LABELS=a=,b=x-\nKUBELET_PROVIDERID=\n');
    const without = await kubeletEnv({ kubeletExtraLabels: ['a=$METADATA_X'] }, undefined);
    assert.equal(without.env, 'CUSTOM_KUBELET_LABELS=a=\n');
  });

  const expansions = [
    { given: 'rack-$METADATA_NAME.x', want: 'rack-bmh-vm-03.x' },
    { given: 'rack-${METADATA_NAME}x', want: 'rack-bmh-vm-03x' },
    { given: '${METADATA_NAME}-${METADATA_UUID}', want: 'bmh-vm-03-0854b65a-42ec' },
    { given: '"${METADATA_UUID}"', want: '0854b65a-42ec' },
    { given: '$METADATA_EVIL', want: EVIL },
    { given: 'x$METADATA_EVIL', want: `x${EVIL}` },
    { given: '$METADATA_OPTION', want: '-n' },
    { given: '$METADATA_EQUAL', want: 'a=b=c' },
    { given: '$METADATA_TWICE', want: 'second' },
    { given: 'x${METADATA_NAME', want: 'x${METADATA_NAME' },
    { given: 'x$ $1 $$ ${} ${1}', want: 'x$ $1 $$ ${} ${1}' },
    { given: 'x$PATH', want: 'x' },
  ];
  for (const { given, want } of expansions) {
    it(`agent/X24: gives ${given} the values of the metadata as they are`, async () => {
      const { env } = await kubeletEnv({ kubeletExtraLabels: [`key=${given}`], providerID: `p://${given}` });
      const inside = given === '"${METADATA_UUID}"' ? '"0854b65a-42ec"' : want;
      assert.equal(env, `CUSTOM_KUBELET_LABELS=key=${want}\nKUBELET_PROVIDERID=p://${inside}\n`);
    });
  }

  for (const text of HOSTILE) {
    it(`agent/X24: writes ${JSON.stringify(text)} as it is`, async () => {
      const nodeRegistration = { kubeletExtraLabels: [`k${text}=x${text}`, `l=x`], providerID: `x${text}y` };
      const { env, id } = await kubeletEnv(nodeRegistration);
      const split = `k${text}=x${text}`;
      assert.equal(env, `CUSTOM_KUBELET_LABELS=${split},l=x\nKUBELET_PROVIDERID=x${text}y\n`);
      assert.equal(id, `x${text}y\n`);
    });
  }

  it('agent/X24: takes no provider ID for an option of echo', async () => {
    for (const providerID of ['-n', '-e', '-neE']) {
      assert.equal((await kubeletEnv({ providerID })).id, `${providerID}\n`);
    }
  });

  it('agent/X24: writes any text without a dollar sign as it is', async () => {
    const anything = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\0$]/gu, '').toWellFormed());
    // One script with all of them: starting a shell for each takes long.
    const labels = fc.sample(anything, 300).map((text, index) => `k${index}=x${text}`);
    const { env } = await kubeletEnv({ kubeletExtraLabels: labels });
    assert.equal(env, `CUSTOM_KUBELET_LABELS=${labels.join(',')}\n`);
  });
});

describe('inject-provider-id', () => {
  const UNIT = [
    '# /etc/systemd/system/kubelet.service',
    '[Service]',
    'ExecStartPre=/bin/mkdir --parents /etc/kubernetes/manifests',
    'ExecStart=/usr/local/bin/kubenswrapper \\',
    '    /usr/bin/kubelet \\',
    '# a comment in between',
    '      --node-labels=${CUSTOM_KUBELET_LABELS} \\',
    '      --v=${KUBELET_LOG_LEVEL}',
    'Restart=always',
    '',
  ].join('\n');
  const COMMAND =
    '/usr/local/bin/kubenswrapper      /usr/bin/kubelet        ' +
    '--node-labels=${CUSTOM_KUBELET_LABELS}        --v=${KUBELET_LOG_LEVEL}';

  interface Given {
    readonly providerID: string;
    readonly file?: string;
    readonly unit?: string;
  }

  async function inject({ providerID, file, unit = UNIT }: Given) {
    await using node = await IgnitionNode.create();
    await node.write('/etc/metadata_env', METADATA);
    if (file !== undefined) await node.write('/run/kubelet-provider-id', file);
    const ownName = node.path(DROP_IN);
    await node.write('unit', unit.replaceAll(DROP_IN, ownName));
    await node.program('systemctl', `if [ "$1" = cat ]; then cat '${node.path('unit')}'; fi`);
    const { code, stdout, stderr } = await node.run(registered({ providerID }, INJECTOR));
    await assertNothingRan(node);
    return { code, stdout, stderr, dropIn: await node.read(DROP_IN), calls: await node.calls() };
  }

  const dropIn = (argument: string, command = COMMAND): string =>
    `[Service]\nExecStart=\nExecStart=${command} --provider-id="${argument}"\n`;

  it('agent/I8: adds the flag to the command with its continuation lines joined, and reloads', async () => {
    const result = await inject({ providerID: 'metal3://$METADATA_UUID', file: 'metal3://$METADATA_UUID\n' });
    assert.equal(result.dropIn?.replaceAll(/ +/g, ' '), dropIn('metal3://0854b65a-42ec').replaceAll(/ +/g, ' '));
    assert.deepEqual(result.calls, ['systemctl [cat] [kubelet.service]', 'systemctl [daemon-reload]']);
    assert.equal(result.code, 0);
  });

  it('agent/I8: does nothing without a provider ID', async () => {
    for (const given of [{}, { file: '' }, { file: '\n' }, { file: '$METADATA_MISSING\n' }]) {
      const result = await inject({ providerID: 'x', ...given });
      assert.deepEqual([result.code, result.dropIn, result.calls], [0, undefined, []], JSON.stringify(given));
    }
    assert.equal((await inject({ providerID: '$METADATA_UUID' })).code, 0);
  });

  it('agent/I8: leaves a command alone that has the flag', async () => {
    const unit = UNIT.replace('--v=', '--provider-id=x --v=');
    const result = await inject({ providerID: 'x', file: 'x\n', unit });
    assert.match(result.stdout, /already set/);
    assert.deepEqual([result.code, result.dropIn], [0, undefined]);
    assert.deepEqual(result.calls, ['systemctl [cat] [kubelet.service]']);
  });

  it('agent/I8: takes the command that counts: the last one, behind what clears it', async () => {
    const later =
      '# /etc/systemd/system/kubelet.service.d/10-a.conf\n[Service]\nExecStart=\nExecStart=/new --flag\n';
    const result = await inject({ providerID: 'x', file: 'x\n', unit: UNIT + later });
    assert.equal(result.dropIn, dropIn('x', '/new --flag'));
  });

  it('agent/I8: looks past its own drop-in, so that an upgraded unit is taken over', async () => {
    const own = `# ${DROP_IN}\n[Service]\nExecStart=\nExecStart=/old --provider-id="x"\n`;
    const result = await inject({ providerID: 'x', file: 'x\n', unit: UNIT + own });
    assert.equal(result.dropIn?.replaceAll(/ +/g, ' '), dropIn('x').replaceAll(/ +/g, ' '));
    const behind = '# /etc/systemd/system/kubelet.service.d/30-z.conf\n[Service]\nExecStart=\nExecStart=/z\n';
    assert.equal(
      (await inject({ providerID: 'x', file: 'x\n', unit: UNIT + own + behind })).dropIn,
      dropIn('x', '/z'),
    );
  });

  it('agent/I8: takes its drop-in away when the unit has the flag after an upgrade', async () => {
    await using node = await IgnitionNode.create();
    await node.write('/run/kubelet-provider-id', 'x\n');
    await node.write(DROP_IN, dropIn('x'));
    await node.program('systemctl', `if [ "$1" = cat ]; then echo 'ExecStart=/k --provider-id=y'; fi`);
    await node.run(registered({ providerID: 'x' }, INJECTOR));
    assert.equal(await node.read(DROP_IN), undefined);
    assert.deepEqual(await node.calls(), ['systemctl [cat] [kubelet.service]', 'systemctl [daemon-reload]']);
  });

  it('agent/I8: fails where kubelet has no command', async () => {
    const result = await inject({ providerID: 'x', file: 'x\n', unit: '[Service]\nExecStart=\n' });
    assert.deepEqual([result.code, result.dropIn], [1, undefined]);
    assert.match(result.stdout, /no ExecStart/);
  });

  const unitText = (text: string): string =>
    text
      .replaceAll('\\', '\\\\')
      .replaceAll('"', '\\"')
      .replaceAll('%', '%%')
      .replaceAll('$', '$$$$')
      .replaceAll('\n', '\\n');

  for (const text of [...HOSTILE, '100%', EVIL.replace('$METADATA_NAME', '')]) {
    it(`agent/X24: gives kubelet ${JSON.stringify(text)} as it is`, async () => {
      const result = await inject({ providerID: 'x', file: `x${text}y\n` });
      assert.equal(result.dropIn?.replaceAll(/ +/g, ' '), dropIn(unitText(`x${text}y`)).replaceAll(/ +/g, ' '));
    });
  }

  it('agent/X24: expands variables anywhere, once', async () => {
    const template = await inject({
      providerID: 'x',
      file: 'a-$METADATA_UUID-${METADATA_NAME}b-$METADATA_EVIL\n',
    });
    const want = unitText(`a-0854b65a-42ec-bmh-vm-03b-${EVIL}`);
    assert.equal(template.dropIn?.replaceAll(/ +/g, ' '), dropIn(want).replaceAll(/ +/g, ' '));
    // The file has the value already.
    const reference = await inject({ providerID: '$METADATA_EVIL', file: `${EVIL}\n` });
    assert.equal(reference.dropIn?.replaceAll(/ +/g, ' '), dropIn(unitText(EVIL)).replaceAll(/ +/g, ' '));
  });

  it('agent/I8: what the labels script leaves is what kubelet gets', async () => {
    for (const providerID of ['$METADATA_UUID', 'metal3://$METADATA_UUID', "it's $(touch pwned)"]) {
      await using node = await IgnitionNode.create();
      await node.write('/etc/metadata_env', METADATA);
      await node.program('systemctl', `if [ "$1" = cat ]; then echo 'ExecStart=/kubelet'; fi`);
      await node.run(registered({ providerID }, LABELS));
      await node.run(registered({ providerID }, INJECTOR));
      await assertNothingRan(node);
      const want = providerID.replace('$METADATA_UUID', '0854b65a-42ec');
      assert.equal(await node.read(DROP_IN), dropIn(unitText(want), '/kubelet'));
    }
  });
});

describe('set_hostname', () => {
  const cases = [
    { name: '$METADATA_NAME', want: ['hostnamectl [set-hostname] [bmh-vm-03]'] },
    { name: '${METADATA_NAME}', want: ['hostnamectl [set-hostname] [bmh-vm-03]'] },
    { name: 'METADATA_NAME', want: ['hostnamectl [set-hostname] [bmh-vm-03]'] },
    { name: '$METADATA_EVIL', want: [`hostnamectl [set-hostname] [${EVIL}]`] },
    { name: '$METADATA_TWICE', want: ['hostnamectl [set-hostname] [second]'] },
    { name: '$METADATA_MISSING', want: [] },
    { name: '$METADATA_OPTION', want: [] },
  ];
  for (const { name, want } of cases) {
    it(`agent/I5: ${name} ${want.length === 0 ? 'leaves the name alone' : 'names the host'}`, async () => {
      await using node = await IgnitionNode.create();
      await node.write('/etc/metadata_env', METADATA);
      assert.equal((await node.run(registered({ name }, HOSTNAME))).code, 0);
      assert.deepEqual(await node.calls(), want);
      await assertNothingRan(node);
    });
  }

  it('agent/I5: leaves the name alone without metadata', async () => {
    await using node = await IgnitionNode.create();
    assert.equal((await node.run(registered({ name: '$METADATA_NAME' }, HOSTNAME))).code, 0);
    assert.deepEqual(await node.calls(), []);
  });
});

const hasJq = spawnSync('jq', ['--version']).status === 0;

describe('configdrive_metadata', { skip: hasJq ? false : 'jq is not installed' }, () => {
  async function readDrive(metadata: string | undefined, before?: string) {
    await using node = await IgnitionNode.create();
    if (before !== undefined) await node.write('/etc/metadata_env', before);
    if (metadata !== undefined) await node.write('drive/openstack/latest/meta_data.json', metadata);
    const found = metadata === undefined ? 'exit 32' : `cp -r '${node.path('drive')}/.' "\${!#}"`;
    await node.program('mount', found);
    await node.program('umount', 'rm -r "$1"/*');
    const { code } = await node.run(registered({ name: '$METADATA_NAME' }, CONFIG_DRIVE));
    await assertNothingRan(node);
    return { code, env: await node.read('/etc/metadata_env'), calls: await node.calls() };
  }

  it('agent/I3: turns each key into a line', async () => {
    const { code, env, calls } = await readDrive(
      JSON.stringify({
        uuid: 'u-1',
        'local-hostname': 'h',
        'metal3-name': 'bmh',
        launch_index: 0,
        keys: [{ a: 1 }],
      }),
    );
    assert.equal(code, 0);
    assert.match(calls[0] ?? '', /^mount \[-o\] \[ro\] \[-L\] \[config-2\] \[/);
    assert.equal(
      env,
      'METADATA_KEYS=[{"a":1}]\nMETADATA_LAUNCH_INDEX=0\nMETADATA_LOCAL_HOSTNAME=h\n' +
        'METADATA_METAL3_NAME=bmh\nMETADATA_UUID=u-1\n',
    );
  });

  it('agent/X24: no value and no key adds a line of its own, and none is run', async () => {
    const hostile = {
      name: 'a\nMETADATA_UUID=evil\r\nBASH_ENV=x',
      'x\ny': 1,
      'x=y': 2,
      '$(touch pwned)': 3,
      uuid: '$(touch pwned)`',
    };
    const { env } = await readDrive(JSON.stringify(hostile));
    assert.equal(env, 'METADATA_NAME=a METADATA_UUID=evil  BASH_ENV=x\nMETADATA_UUID=$(touch pwned)`\n');
  });

  it('agent/I3: a machine without a config drive gets an empty file, or keeps what it has', async () => {
    assert.deepEqual((({ code, env }) => ({ code, env }))(await readDrive(undefined)), { code: 0, env: '' });
    assert.equal((await readDrive(undefined, 'METADATA_UUID=u\n')).env, 'METADATA_UUID=u\n');
  });

  it('agent/I3: fails where the metadata is no JSON, and keeps what there is', async () => {
    const { code, env } = await readDrive('{', 'METADATA_UUID=u\n');
    assert.deepEqual([code, env], [1, 'METADATA_UUID=u\n']);
  });
});

describe('commands before and after kubelet', () => {
  it('agent/I6: run in order, and then the sentinel is there', async () => {
    await using node = await IgnitionNode.create();
    const script = scriptOf({ preBootstrapCommands: ['echo one', "echo 'two  $x'"] }, PRE);
    const { code, stdout } = await node.run(script);
    assert.deepEqual([code, stdout], [0, 'one\ntwo  $x\n']);
    assert.equal(await node.read('/var/lib/capoa/pre-bootstrap.done'), '');
  });

  it('agent/I6: a failure leaves no sentinel', async () => {
    await using node = await IgnitionNode.create();
    const { code, stdout } = await node.run(scriptOf({ preBootstrapCommands: ['false', 'echo two'] }, PRE));
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(await node.read('/var/lib/capoa/pre-bootstrap.done'), undefined);
  });

  /** `answers` says after how many questions the API and the node are there. */
  async function runAfter(
    spec: OpenshiftAssistedConfigSpec,
    answers: { readonly api: number; readonly node: number },
  ) {
    await using node = await IgnitionNode.create();
    await node.program('hostname', 'echo worker-0');
    await node.program('sleep', '');
    await node.program(
      'kubectl',
      `case "$*" in *readyz*) what=readyz left=${answers.api} ;; *) what='get. .node' left=${answers.node} ;; esac
       [ "$(grep -c "kubectl.*$what" '${node.path('calls')}')" -gt "$left" ]`,
    );
    const { code, stdout } = await node.run(scriptOf({ postBootstrapCommands: ['echo done'], ...spec }, POST));
    const sentinel = await node.read('/var/lib/capoa/post-bootstrap.done');
    return { code, stdout, sentinel, calls: await node.calls() };
  }

  it('agent/I7: wait for the API and the node', async () => {
    const { code, stdout, sentinel, calls } = await runAfter({}, { api: 2, node: 1 });
    assert.equal(code, 0);
    assert.ok(stdout.endsWith('\ndone\n'));
    assert.equal(sentinel, '');
    const kubeconfig = /^kubectl \[--kubeconfig=.*\/var\/lib\/kubelet\/kubeconfig\]/;
    const questions = calls.filter((call) => call.startsWith('kubectl'));
    for (const question of questions) assert.match(question, kubeconfig);
    assert.deepEqual(
      questions.map((question) => question.replace(kubeconfig, '')),
      [...Array(3).fill(' [get] [--raw] [/readyz]'), ...Array(2).fill(' [get] [node] [worker-0]')],
    );
    assert.equal(calls.filter((call) => call === 'sleep [10]').length, 3);
  });

  it('agent/I7: give up after ten minutes in all', async () => {
    const never = await runAfter({}, { api: 1000, node: 0 });
    assert.deepEqual([never.code, never.sentinel], [1, undefined]);
    assert.equal(never.calls.filter((call) => call === 'sleep [10]').length, 60);
    const shared = await runAfter({}, { api: 50, node: 1000 });
    assert.deepEqual([shared.code, shared.sentinel], [1, undefined]);
    assert.equal(shared.calls.filter((call) => call === 'sleep [10]').length, 60);
    assert.doesNotMatch(shared.stdout, /^done$/m);
  });

  it('agent/X3: use the kubeconfig of the spec', async () => {
    const { code, calls } = await runAfter(
      { postBootstrapKubeconfigPath: '/custom/kubeconfig' },
      { api: 0, node: 0 },
    );
    assert.equal(code, 0);
    assert.ok(calls.some((call) => call.startsWith('kubectl [--kubeconfig=/custom/kubeconfig]')));
  });
});

describe('every script', () => {
  const everything = contentsOf(
    installIgnition(
      {
        nodeRegistration: {
          name: '$METADATA_NAME',
          kubeletExtraLabels: ['a=$METADATA_UUID'],
          providerID: 'x://$METADATA_UUID',
        },
        preBootstrapCommands: ['echo pre'],
        postBootstrapCommands: ['echo post'],
      },
      undefined,
    ),
  ).scripts;

  it('agent/X24: is bash, and neither evaluates text nor runs the metadata', () => {
    assert.equal(everything.size, 6);
    for (const [path, script] of everything) {
      assert.equal(spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' }).stderr, '', path);
      assert.ok(script.startsWith('#!/bin/bash\n'), path);
      assert.doesNotMatch(script, /\beval\b|\bsource\b|^\s*\. /m, path);
    }
  });

  const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
  it('agent/X24: is without remarks of shellcheck', {
    skip: hasShellcheck ? false : 'shellcheck is not installed',
  }, () => {
    for (const [path, script] of everything) {
      // SC2016, variables in single quotes, is how a provider ID with variables is written.
      const { stdout } = spawnSync('shellcheck', ['--exclude=SC2016', '-'], { input: script, encoding: 'utf8' });
      assert.equal(stdout, '', path);
    }
  });
});
