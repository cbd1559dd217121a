import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SlipwayError } from '../../base/errors.ts';
import { parseYaml } from '../../object/yaml.ts';
import { featureGates } from '../config/feature-gates.ts';
import type { TransformContext } from '../definition.ts';
import { awsCloudConfig } from './aws.ts';
import { azureCloudConfig } from './azure.ts';
import { azureStackCloudConfig } from './azure-stack.ts';
import { openStackCloudConfig } from './openstack.ts';
import { vSphereCloudConfig } from './vsphere.ts';

interface Row {
  readonly name: string;
  readonly infra?: Pick<TransformContext['infra'], 'spec' | 'status'>;
  readonly network?: Pick<TransformContext['network'], 'spec'>;
  readonly on?: readonly string[];
  readonly off?: readonly string[];
  readonly source: string;
  readonly want?: string;
  readonly problem?: string;
  readonly warnings?: readonly string[];
}

const header = (kind: string) => ({ apiVersion: 'config.openshift.io/v1', kind, metadata: { name: 'cluster' } });

function contextOf(row: Row, platformStatus: object, warnings: string[]): TransformContext {
  return {
    infra: { ...header('Infrastructure'), ...(row.infra ?? { status: { platformStatus } }) },
    network: { ...header('Network'), ...row.network },
    gates: featureGates(row.on ?? [], row.off),
    warn: (message) => warnings.push(message),
  };
}

const TABLES = [
  { rule: 'R70', file: 'aws', transform: awsCloudConfig, platform: { type: 'AWS' } },
  {
    rule: 'R71',
    file: 'azure',
    transform: azureCloudConfig,
    platform: { type: 'Azure', azure: { cloudName: 'AzurePublicCloud' } },
  },
  {
    rule: 'R72',
    file: 'azure-stack',
    transform: azureStackCloudConfig,
    platform: { type: 'Azure', azure: { cloudName: 'AzureStackCloud' } },
  },
  { rule: 'R73', file: 'openstack', transform: openStackCloudConfig, platform: { type: 'OpenStack' } },
  { rule: 'R74, R75', file: 'vsphere', transform: vSphereCloudConfig, platform: { type: 'VSphere' } },
] as const;

for (const { rule, file, transform, platform } of TABLES) {
  const text = readFileSync(new URL(`testdata/${file}.yaml`, import.meta.url), 'utf8');
  describe(`operator/${rule}: the cloud.conf of ${file}`, () => {
    for (const row of parseYaml(text) as readonly Row[]) {
      it(`answers to: ${row.name}`, () => {
        const warnings: string[] = [];
        const context = contextOf(row, platform, warnings);
        const before = JSON.stringify(context);
        if (row.want === undefined) {
          assert.throws(() => transform(row.source, context), isTerminal(row.problem ?? ''));
        } else {
          assert.equal(transform(row.source, context), row.want);
          assert.deepEqual(warnings, row.warnings ?? []);
          assert.equal(transform(row.want, context), row.want, 'its own output stays as it is');
        }
        assert.equal(JSON.stringify(context), before, 'what it is given stays as it is');
      });
    }
  });
}

const isTerminal = (message: string) => (thrown: unknown) => {
  assert.ok(thrown instanceof SlipwayError);
  assert.equal(thrown.message, message);
  assert.equal(thrown.disposition, 'terminal');
  return true;
};
