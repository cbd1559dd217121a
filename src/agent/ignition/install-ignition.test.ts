import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { ignitionConfig } from '../../../test/support/ignition-configs.ts';
import { contentsOf } from '../../../test/support/ignition-node.ts';
import { IGNITION_OVERRIDE, type OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { SlipwayError } from '../../base/errors.ts';
import { installIgnition } from './install-ignition.ts';

const EVERYTHING: OpenshiftAssistedConfigSpec = {
  nodeRegistration: {
    name: '$METADATA_NAME',
    kubeletExtraLabels: ['metal3.io/uuid=$METADATA_UUID', 'zone=east'],
    providerID: 'metal3://$METADATA_UUID',
  },
  preBootstrapCommands: ['echo pre'],
  postBootstrapCommands: ['echo post'],
};

const unitsOf = (spec: OpenshiftAssistedConfigSpec): readonly string[] => [
  ...contentsOf(installIgnition(spec, undefined)).units.keys(),
];

const isUserError =
  (reason: string, ...texts: readonly string[]) =>
  (thrown: unknown): boolean => {
    assert.ok(thrown instanceof SlipwayError);
    assert.deepEqual([thrown.disposition, thrown.reason], ['user', reason]);
    for (const text of texts) assert.ok(thrown.message.includes(text), `${thrown.message} has no ${text}`);
    return true;
  };

describe('the ignition of installed nodes', () => {
  it('agent/I3: has nothing but its version where nothing is asked for', () => {
    const want = '{"ignition":{"version":"3.1.0"},"storage":{}}';
    assert.equal(installIgnition({}, undefined), want);
    const nothing = {
      nodeRegistration: { name: '', kubeletExtraLabels: [], providerID: '' },
      preBootstrapCommands: [],
      postBootstrapCommands: [],
      bootstrapCommandSentinelDir: '/x',
    };
    assert.equal(installIgnition(nothing, ''), want);
  });

  it('agent/I3: has all units in their order', () => {
    assert.deepEqual(unitsOf(EVERYTHING), [
      'configdrive-metadata.service',
      'kubelet-customlabels.service',
      'set-hostname.service',
      'capoa-pre-bootstrap.service',
      'capoa-post-bootstrap.service',
      'capoa-inject-provider-id.service',
    ]);
  });

  const cases: readonly { name: string; spec: OpenshiftAssistedConfigSpec; want: readonly string[] }[] = [
    {
      name: 'labels',
      spec: { nodeRegistration: { kubeletExtraLabels: ['a=b'] } },
      want: ['configdrive-metadata', 'kubelet-customlabels'],
    },
    { name: 'labels without =', spec: { nodeRegistration: { kubeletExtraLabels: ['a'] } }, want: [] },
    {
      name: 'a provider ID',
      spec: { nodeRegistration: { providerID: 'x' } },
      want: ['configdrive-metadata', 'kubelet-customlabels', 'capoa-inject-provider-id'],
    },
    { name: 'a provider ID of spaces', spec: { nodeRegistration: { providerID: '  ' } }, want: [] },
    {
      name: 'a name',
      spec: { nodeRegistration: { name: 'METADATA_NAME' } },
      want: ['configdrive-metadata', 'set-hostname'],
    },
    { name: 'commands before kubelet', spec: { preBootstrapCommands: ['a'] }, want: ['capoa-pre-bootstrap'] },
    { name: 'commands after kubelet', spec: { postBootstrapCommands: ['a'] }, want: ['capoa-post-bootstrap'] },
  ];
  for (const { name, spec, want } of cases) {
    it(`agent/I3: has for ${name} what that needs`, () => {
      assert.deepEqual(
        unitsOf(spec),
        want.map((unit) => `${unit}.service`),
      );
    });
  }

  it('agent/I1: files are of root, overwrite, and are executable; those of users only for root', () => {
    const text = installIgnition(EVERYTHING, undefined);
    const { storage, systemd } = JSON.parse(text);
    for (const file of storage.files) {
      assert.deepEqual(Object.keys(file), ['overwrite', 'path', 'user', 'contents', 'mode']);
      assert.deepEqual([file.overwrite, file.user], [true, { name: 'root' }]);
      assert.match(file.contents.source, /^data:text\/plain;charset=utf-8;base64,[A-Za-z0-9+/]+=*$/);
    }
    for (const { enabled, contents } of systemd.units) {
      assert.equal(enabled, true);
      assert.match(contents, /^Type=oneshot$/m);
      assert.match(contents, /\[Install\]\nWantedBy=multi-user\.target\n$/);
    }
    assert.deepEqual(
      [...contentsOf(text).modes],
      [
        ['/usr/local/bin/configdrive_metadata', 493],
        ['/usr/local/bin/kubelet_custom_labels', 493],
        ['/usr/local/bin/set_hostname', 493],
        ['/usr/local/bin/capoa-pre-bootstrap.sh', 448],
        ['/usr/local/bin/capoa-post-bootstrap.sh', 448],
        ['/usr/local/bin/inject-provider-id', 493],
      ],
    );
  });

  const ordering = [
    ['configdrive-metadata', 'Before=kubelet-customlabels.service', 'After=ostree-finalize-staged.service'],
    [
      'kubelet-customlabels',
      'Before=kubelet.service',
      'After=ostree-finalize-staged.service',
      'EnvironmentFile=/etc/metadata_env',
    ],
    [
      'set-hostname',
      'Before=kubelet.service',
      'After=configdrive-metadata.service',
      'Wants=configdrive-metadata.service',
      'RemainAfterExit=true',
      'ExecStart=/bin/bash /usr/local/bin/set_hostname',
    ],
    [
      'capoa-pre-bootstrap',
      'After=network.target ostree-finalize-staged.service configdrive-metadata.service kubelet-customlabels.service set-hostname.service',
      'Before=kubelet.service',
      'ConditionPathExists=!/var/lib/capoa/pre-bootstrap.done',
    ],
    [
      'capoa-post-bootstrap',
      'Requires=kubelet.service',
      'After=kubelet.service',
      'ConditionPathExists=!/var/lib/capoa/post-bootstrap.done',
    ],
    [
      'capoa-inject-provider-id',
      'Before=kubelet.service',
      'After=kubelet-customlabels.service',
      'Wants=kubelet-customlabels.service',
      'RemainAfterExit=true',
      'ExecStart=/usr/local/bin/inject-provider-id',
    ],
  ] as const;
  for (const [unit, ...lines] of ordering) {
    it(`agent/I3: ${unit} is ordered as upstream orders it`, () => {
      const text = contentsOf(installIgnition(EVERYTHING, undefined)).units.get(`${unit}.service`) ?? '';
      const found = text.split('\n');
      for (const line of lines) assert.ok(found.includes(line), `${text} has no ${line}`);
    });
  }

  it('agent/I1: the texts of all units and scripts are the golden ones', () => {
    const { scripts, units } = contentsOf(installIgnition(EVERYTHING, undefined));
    const parts = [...units, ...scripts].map(([name, text]) => `===== ${name}\n${text}`);
    assertGoldenFile(join(import.meta.dirname, 'testdata/install-ignition.txt'), parts.join('\n'));
  });

  it('agent/I6: no slash is doubled where the directory of sentinels ends with one', () => {
    const spec = { ...EVERYTHING, bootstrapCommandSentinelDir: '/custom//path///' };
    const { scripts, units } = contentsOf(installIgnition(spec, undefined));
    for (const when of ['pre', 'post']) {
      const script = scripts.get(`/usr/local/bin/capoa-${when}-bootstrap.sh`) ?? '';
      const unit = units.get(`capoa-${when}-bootstrap.service`) ?? '';
      assert.match(
        script,
        new RegExp(`^mkdir -p /custom/path\ntouch /custom/path/${when}-bootstrap\\.done$`, 'm'),
      );
      assert.match(unit, new RegExp(`^ConditionPathExists=!/custom/path/${when}-bootstrap\\.done$`, 'm'));
      assert.ok(!`${script}${unit}`.includes('//'));
    }
    const root = contentsOf(installIgnition({ ...EVERYTHING, bootstrapCommandSentinelDir: '//' }, undefined));
    assert.match(root.scripts.get('/usr/local/bin/capoa-pre-bootstrap.sh') ?? '', /mkdir -p \/\ntouch \/pre-/);
  });

  it('agent/X3: the kubeconfig of the spec is the one that is waited with', () => {
    const path = '/usr/local/bin/capoa-post-bootstrap.sh';
    const spec = { postBootstrapCommands: ['x'], postBootstrapKubeconfigPath: '/custom/kubeconfig' };
    const custom = contentsOf(installIgnition(spec, undefined)).scripts.get(path) ?? '';
    assert.ok(custom.includes('KUBECONFIG_PATH="/custom/kubeconfig"\n'));
    assert.ok(!custom.includes('/var/lib/kubelet'));
    const plain = contentsOf(installIgnition({ postBootstrapCommands: ['x'] }, undefined)).scripts.get(path) ?? '';
    assert.ok(plain.includes('KUBECONFIG_PATH="/var/lib/kubelet/kubeconfig"\n'));
  });

  it('agent/X23: labels keep their order, and the last of the same key counts', () => {
    const kubeletExtraLabels = ['z=1', 'a=$B', 'm=2', 'skipped', 'z=$A'];
    const script = contentsOf(
      installIgnition({ nodeRegistration: { kubeletExtraLabels } }, undefined),
    ).scripts.get('/usr/local/bin/kubelet_custom_labels');
    assert.ok(script?.includes('"CUSTOM_KUBELET_LABELS=z=${A},a=${B},m=2"'), script);
  });

  it('agent/I10: does not write the sentinel of Cluster API', () => {
    const { scripts, units } = contentsOf(installIgnition(EVERYTHING, undefined));
    assert.ok(![...scripts, ...units].flat().some((text) => text.includes('/run/cluster-api')));
  });
});

describe('what a spec has wrong', () => {
  const labels = [
    '$VAR$(whoami)',
    '$VAR`id`',
    '$1VAR',
    '$VAR-NAME',
    '$VAR;echo',
    '$VAR NAME',
    '$',
    '${}',
    '$(reboot)',
  ];
  for (const value of labels) {
    it(`agent/I4: the label value ${value} has an invalid variable`, () => {
      const nodeRegistration = { kubeletExtraLabels: ['ok=1', `key=${value}`] };
      assert.throws(
        () => installIgnition({ nodeRegistration }, undefined),
        isUserError(
          'InvalidNodeLabel',
          'spec.nodeRegistration.kubeletExtraLabels[1]',
          'invalid',
          '$METADATA_UUID',
        ),
      );
      assert.throws(
        () => installIgnition({ nodeRegistration: { providerID: value } }, undefined),
        isUserError('InvalidProviderID', 'spec.nodeRegistration.providerID', 'invalid'),
      );
    });
  }

  it('agent/I4: a label without a key', () => {
    assert.throws(
      () => installIgnition({ nodeRegistration: { kubeletExtraLabels: ['=x'] } }, undefined),
      isUserError('InvalidNodeLabel', 'spec.nodeRegistration.kubeletExtraLabels[0]'),
    );
  });

  for (const name of ['worker-0', '$(reboot)', 'A$(reboot)', '$A"; reboot; "', '$']) {
    it(`agent/I5: the name ${name} is no variable`, () => {
      assert.throws(
        () => installIgnition({ nodeRegistration: { name } }, undefined),
        isUserError('InvalidNodeName', 'spec.nodeRegistration.name', JSON.stringify(name), '$METADATA_NAME'),
      );
    });
  }

  for (const path of ['relative', '/a b', '/a;reboot', '/a\nb', '/$(reboot)']) {
    it(`agent/I6: the path ${JSON.stringify(path)} would have a meaning in a script`, () => {
      assert.throws(
        () => installIgnition({ preBootstrapCommands: ['x'], bootstrapCommandSentinelDir: path }, undefined),
        isUserError('InvalidBootstrapPath', 'spec.bootstrapCommandSentinelDir'),
      );
      assert.throws(
        () => installIgnition({ postBootstrapCommands: ['x'], postBootstrapKubeconfigPath: path }, undefined),
        isUserError('InvalidBootstrapPath', 'spec.postBootstrapKubeconfigPath'),
      );
    });
  }
});

describe('the override of the annotation', () => {
  const override = (config: unknown): string => JSON.stringify(config);
  const FILE = { path: '/etc/override-file', mode: 384, contents: { source: 'data:,x' } };

  for (const text of [undefined, '', 'no JSON', '{', "{'a':1}"]) {
    it(`agent/I9: ${JSON.stringify(text) ?? 'nothing'} is ignored`, () => {
      assert.equal(installIgnition(EVERYTHING, text), installIgnition(EVERYTHING, undefined));
    });
  }

  for (const text of ['{"foo":"bar"}', '[]', '5', 'null', '"x"', '{"ignition":{"version":"3.2.0"}}']) {
    it(`agent/I9: ${text} is refused with the key of the annotation`, () => {
      assert.throws(
        () => installIgnition({}, text),
        isUserError('InvalidIgnitionOverride', IGNITION_OVERRIDE, 'Correct the annotation'),
      );
    });
  }

  it('agent/I9: adds files and units behind ours', () => {
    const merged = JSON.parse(
      installIgnition(
        { preBootstrapCommands: ['echo pre'] },
        override({
          ignition: { version: '3.1.0' },
          storage: { files: [FILE] },
          systemd: { units: [{ name: 'x.service', mask: true }] },
        }),
      ),
    );
    assert.deepEqual(
      merged.storage.files.map(({ path }: { path: string }) => path),
      ['/usr/local/bin/capoa-pre-bootstrap.sh', '/etc/override-file'],
    );
    assert.deepEqual(merged.systemd.units[1], { name: 'x.service', mask: true });
  });

  it('agent/I9: changes a file and a unit of ours field by field', () => {
    const merged = JSON.parse(
      installIgnition(
        { preBootstrapCommands: ['echo pre'] },
        override({
          ignition: { version: '3.0.0' },
          storage: {
            files: [{ path: '/usr/local/bin/capoa-pre-bootstrap.sh', mode: 0, append: [{ source: 'data:,x' }] }],
          },
          systemd: {
            units: [{ name: 'capoa-pre-bootstrap.service', enabled: false, dropins: [{ name: 'a.conf' }] }],
          },
        }),
      ),
    );
    const [file] = merged.storage.files;
    assert.deepEqual([file.mode, file.user, file.append], [0, { name: 'root' }, [{ source: 'data:,x' }]]);
    assert.match(file.contents.source, /^data:text/);
    const [unit] = merged.systemd.units;
    assert.deepEqual([unit.enabled, unit.dropins], [false, [{ name: 'a.conf' }]]);
    assert.match(unit.contents, /ConditionPathExists/);
    assert.equal(merged.ignition.version, '3.1.0');
  });

  it('agent/I9: fields that no version of ours knows survive, with every digit', () => {
    const text =
      '{"ignition":{"version":"3.1.0","new":{"big":9007199254740993}},"kernelArguments":{"shouldExist":["x"]},"__proto__":{"a":1}}';
    const merged = installIgnition(EVERYTHING, text);
    assert.ok(merged.includes('"new":{"big":9007199254740993}'));
    assert.ok(merged.includes('"kernelArguments":{"shouldExist":["x"]}'));
    assert.ok(merged.includes('"__proto__":{"a":1}'));
  });

  it('agent/I9: is refused where a file would have the owner of both', () => {
    const files = [{ path: '/usr/local/bin/capoa-pre-bootstrap.sh', user: { id: 0 } }];
    assert.throws(
      () =>
        installIgnition(
          { preBootstrapCommands: ['x'] },
          override({ ignition: { version: '3.1.0' }, storage: { files } }),
        ),
      isUserError('InvalidIgnitionOverride', IGNITION_OVERRIDE, 'storage.files[0].user'),
    );
  });

  it('agent/X23: the same input gives the same bytes, and they are a config', () => {
    const { nodeRegistration, ...spec } = EVERYTHING;
    const labels = {
      ...spec,
      nodeRegistration: { kubeletExtraLabels: nodeRegistration?.kubeletExtraLabels ?? [] },
    };
    fc.assert(
      fc.property(ignitionConfig, (config) => {
        const bytes = installIgnition(labels, override(config));
        assert.equal(installIgnition(structuredClone(labels), override(config)), bytes);
        assert.doesNotThrow(() => installIgnition({}, bytes));
      }),
    );
  });
});
