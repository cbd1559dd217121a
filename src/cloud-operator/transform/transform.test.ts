import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Infrastructure, PlatformStatus, VSpherePlatformSpec } from '../../api/openshift/config-v1.ts';
import { causeChain, SlipwayError } from '../../base/errors.ts';
import { featureGates } from '../config/feature-gates.ts';
import type { TransformContext } from '../definition.ts';
import { awsCloudConfig } from './aws.ts';
import { azureCloudConfig } from './azure.ts';
import { azureStackCloudConfig } from './azure-stack.ts';
import { openStackCloudConfig } from './openstack.ts';
import { vSphereCloudConfig } from './vsphere.ts';

type Transform = (source: string, context: TransformContext) => string;

const header = (kind: string) => ({ apiVersion: 'config.openshift.io/v1', kind, metadata: { name: 'cluster' } });

interface Given {
  readonly platform?: PlatformStatus;
  readonly vsphere?: VSpherePlatformSpec;
  readonly networks?: readonly string[];
  readonly gates?: readonly string[];
}

function context({ platform = {}, vsphere, networks = [], gates = [] }: Given = {}): TransformContext {
  const infra: Infrastructure = {
    ...header('Infrastructure'),
    ...(vsphere !== undefined && { spec: { platformSpec: { vsphere } } }),
    status: { platformStatus: platform },
  };
  return {
    infra,
    network: { ...header('Network'), spec: { serviceNetwork: networks } },
    gates: featureGates(gates),
    warn: () => {},
  };
}

const azure = (cloudName?: string) =>
  context({ platform: { type: 'Azure', ...(cloudName !== undefined && { azure: { cloudName } }) } });
const openStack = context({ platform: { type: 'OpenStack' } });
const vSphere = context({ platform: { type: 'VSphere' } });

describe('cloud.conf of AWS', () => {
  it('operator/R70: case 12: begins with [Global] when there is no source', () => {
    assert.match(awsCloudConfig('', context()), /^\[Global\]\n/);
  });

  it('operator/R70: lets an option decide about security groups instead of the gate', () => {
    const gated = context({ gates: ['AWSServiceLBNetworkSecurityGroup'] });
    assert.match(awsCloudConfig('', gated), /NLBSecurityGroupMode +=/);
    assert.doesNotMatch(awsCloudConfig('', gated, { forceManagedNlbSecurityGroups: false }), /NLBSecurityGroup/);
    assert.match(awsCloudConfig('', context(), { forceManagedNlbSecurityGroups: true }), /Mode += Managed\n/);
  });
});

describe('cloud.conf of Azure Stack Hub', () => {
  it('operator/R72: gets a kind of machines, keeps the rest, and is for no other cloud', () => {
    const given = '{"cloud":"AzureStackCloud","resourceGroup":"rg"}';
    const text = azureStackCloudConfig(given, azure('AzureStackCloud'));
    // What upstream always writes: the hash of this text is in pod templates.
    const always = { Entries: null, putVMSSVMBatchSize: 0, enableMigrateToIPBasedBackendPoolAPI: false };
    assert.deepEqual(JSON.parse(text), { ...JSON.parse(given), ...always, vmType: 'standard' });
    const kept = azureStackCloudConfig('{"vmType":"vmss"}', azure('AzureStackCloud'));
    assert.equal(JSON.parse(kept).vmType, 'vmss');
    const message = 'invalid platform, expected CloudName to be AzureStackCloud';
    assert.throws(() => azureStackCloudConfig(given, azure('AzurePublicCloud')), { message });
  });
});

describe('cloud.conf of Azure', () => {
  it('operator/case 15: spells the cloud as the infrastructure does', () => {
    const text = azureCloudConfig('{"cloud":"AZUREPUBLICCLOUD"}', azure('AzurePublicCloud'));
    assert.equal(JSON.parse(text).cloud, 'AzurePublicCloud');
  });

  it('operator/R71: keeps keys that nobody knows, and numbers to the last digit', () => {
    const text = azureCloudConfig('{"futureSetting":{"a":[1,null]},"big":9007199254740993}', azure());
    assert.match(text, /,"futureSetting":\{"a":\[1,null\]\},"big":9007199254740993\}$/);
  });

  it('operator/R71: takes a cluster that says nothing about Azure for one in the public cloud', () => {
    assert.equal(JSON.parse(azureCloudConfig('{}', azure())).cloud, 'AzurePublicCloud');
  });

  it('operator/R71: never shows values of a broken source, which may be secrets', () => {
    const source = '{\n"aadClientSecret": "hunter2" "x": 1}';
    assert.throws(() => azureCloudConfig(source, azure()), {
      message: `failed to unmarshal the cloud.conf: line 2: invalid character '"' after object key:value pair`,
    });
  });
});

describe('cloud.conf of OpenStack', () => {
  it('operator/R73: case 16: has two sections when there is no source', () => {
    assert.equal(
      openStackCloudConfig('', openStack),
      [
        '[Global]',
        'use-clouds  = true',
        'clouds-file = /etc/openstack/secret/clouds.yaml',
        'cloud       = openstack',
        '',
        '[LoadBalancer]',
        'max-shared-lb          = 1',
        'manage-security-groups = true',
        '',
      ].join('\n'),
    );
  });
});

describe('cloud.conf of vSphere', () => {
  it('operator/R74: case 17: is YAML without the workspace of the old form', () => {
    const source = '[Global]\nport = 443\n[Workspace]\nserver = a\n[VirtualCenter "a"]\ninsecure-flag = 1\n';
    assert.equal(
      vSphereCloudConfig(source, vSphere),
      'global:\n  port: 443\nvcenter:\n  a:\n    insecureFlag: true\n    server: a\n',
    );
  });

  it('operator/R75: adds servers that only a failure domain names', () => {
    const vsphere = { failureDomains: [{ name: 'a', server: 'b', topology: { datacenter: 'c' } }] };
    const text = vSphereCloudConfig('global: {}', context({ platform: { type: 'VSphere' }, vsphere }));
    assert.equal(text, 'global: {}\nvcenter:\n  b:\n    datacenters:\n    - c\n    server: b\n');
  });
});

describe('a cloud.conf that cannot be read', () => {
  const SECRET = 'hunter2';
  const aws = (source: string) => awsCloudConfig(source, context());
  const vsphere = (source: string) => vSphereCloudConfig(source, vSphere);
  const LINE_2 = 'as YAML: line 2: is not valid YAML; quote values that begin with a sign';
  const cases = [
    { name: 'a password with a star', of: vsphere, source: `global:\n  password: *${SECRET}\n`, want: LINE_2 },
    { name: 'a text for a number', of: vsphere, source: `global:\n  password: !!int ${SECRET}\n`, want: LINE_2 },
    { name: 'a key that is a list', of: vsphere, source: `global:\n  ? [${SECRET}]\n  : a\n`, want: LINE_2 },
    { name: 'two colons', of: vsphere, source: `global:\n  password: ${SECRET}: x\n`, want: LINE_2 },
    {
      name: 'the rest of a value',
      of: aws,
      source: `[Global]\n${SECRET} x\n`,
      want: 'line 2: expected "=" after a key',
    },
  ];
  for (const { name, of, source, want } of cases)
    it(`is told of by its line, never by what is in it: ${name}`, () => {
      assert.throws(
        () => of(source),
        (error: Error) => {
          assert.ok(error.message.startsWith(`failed to read the cloud.conf: ${want}`), error.message);
          assert.doesNotMatch(causeChain(error).map(String).join(), new RegExp(SECRET));
          return true;
        },
      );
    });

  it('never shows a number that is too large, which may be a secret', () => {
    const source = '{"aadClientSecret": 77e7777}';
    assert.throws(() => azureCloudConfig(source, azure()), {
      message: 'failed to unmarshal the cloud.conf: holds a number that is too large',
    });
  });

  it('operator/R74: a word that stands alone is left out without being shown', () => {
    const warnings: string[] = [];
    vSphereCloudConfig(`[Global]\n${SECRET}\n`, { ...vSphere, warn: (text) => void warnings.push(text) });
    assert.match(warnings.join(), /: a key without a value in \[Global\] \(line 2\)$/);
  });
});

/** Bits of text that mean something to one of the readers. */
const BITS = [
  ['[Global]\n', '[ServiceOverride "1"]\n', '[VirtualCenter "v"]\n', '[LoadBalancer]\n', '[BlockStorage]\n'],
  ['[X "y"]\n', '[DEFAULT]\n', '[Labels]\n', '[Nodes]\n', '# c\n', '; c', '#', '\\\n', '\n', '\n', '\r\n'],
  ['Zone = ', 'URL=', 'NodeIPFamilies = ', 'DisableSecurityGroupIngress', 'user = ', 'port = ', '- = ', 'c: '],
  ['zone = ', 'datacenters = ', 'insecure-flag', '"', '"""', '`', "'", '\\', ' ', '\t', '=', ':', '%(a)s'],
  ['x', 'y z', 'é', '1', '443', '012', 'yes', 'a,b', '"q"', "'q'", '[', ']', '\u0085', '\u00a0', '\\"', '\\n'],
  ['global:\n', '  user: ', '  port: ', 'vcenter:\n  v:\n    server: ', '{', '}', '- ', 'null', '~', '*', '&'],
].flat();

const texts = fc
  .tuple(fc.constantFrom('', '[Global]\n', 'global:\n'), fc.array(fc.constantFrom(...BITS), { maxLength: 16 }))
  .map(([start, bits]) => start + bits.join(''));

const vSphereSpecs = fc.record({
  vcenters: fc.array(
    fc.record({ server: fc.constantFrom('a', 'b'), port: fc.nat(), datacenters: fc.array(fc.string()) }),
  ),
  failureDomains: fc.array(
    fc.record({
      name: fc.string(),
      server: fc.constantFrom('a', 'c'),
      topology: fc.record({ datacenter: fc.string() }),
    }),
  ),
});

const jsonTexts = fc
  .dictionary(fc.constantFrom('cloud', 'Cloud', 'vmType', 'tags', 'foo', '__proto__'), fc.jsonValue())
  .map((value) => JSON.stringify(value));

function assertStable(transform: Transform, source: string, given: TransformContext): void {
  let once: string;
  try {
    once = transform(source, given);
  } catch (thrown) {
    assert.ok(thrown instanceof SlipwayError, `a bug for ${JSON.stringify(source)}: ${String(thrown)}`);
    assert.equal(thrown.disposition, 'terminal');
    return;
  }
  assert.equal(transform(once, given), once);
}

describe('operator/R70–R75: a result is a source that stays as it is', () => {
  const RUNS = { numRuns: 1000 };

  it('on AWS', () => {
    fc.assert(
      fc.property(texts, (text) => assertStable(awsCloudConfig, text, context())),
      RUNS,
    );
  });

  it('on OpenStack', () => {
    fc.assert(
      fc.property(texts, (text) => assertStable(openStackCloudConfig, text, openStack)),
      RUNS,
    );
  });

  it('on vSphere', () => {
    fc.assert(
      fc.property(texts, fc.option(vSphereSpecs, { nil: undefined }), fc.boolean(), (text, vsphere, isDual) => {
        const networks = isDual ? ['172.30.0.0/16', 'fd02::/112'] : ['172.30.0.0/16'];
        const platform = { type: 'VSphere', vsphere: { ingressIPs: ['10.0.0.1', 'fd00::1'] } } as const;
        const given = context({ platform, networks, ...(vsphere !== undefined && { vsphere }) });
        assertStable(vSphereCloudConfig, text, given);
      }),
      RUNS,
    );
  });

  it('on Azure and Azure Stack Hub', () => {
    fc.assert(
      fc.property(jsonTexts, (text) => {
        assertStable(azureCloudConfig, text, azure('AzurePublicCloud'));
        assertStable(azureStackCloudConfig, text, azure('AzureStackCloud'));
      }),
      RUNS,
    );
  });

  it('with any value of AWS and OpenStack that can be written at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (value) => {
        const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
        assertStable(awsCloudConfig, `[Global]\nZone = ${quoted}\n`, context());
        assertStable(openStackCloudConfig, `[Global]\na = \`${value}\`\n`, openStack);
      }),
      RUNS,
    );
  });
});
