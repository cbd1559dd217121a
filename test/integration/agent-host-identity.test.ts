import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { installIgnition } from '../../src/agent/ignition/install-ignition.ts';
import { scriptedIdentity } from '../../src/lab/metal/host/node-identity.ts';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'slipway-identity-'));
after(() => rmSync(DIRECTORY, { recursive: true }));

describe('what the provider writes for a host', () => {
  it('agent/I3: gives the host of the lab its name, its labels and its provider ID', async () => {
    const ignition = installIgnition(
      {
        nodeRegistration: {
          name: '$METADATA_NAME',
          kubeletExtraLabels: ['metal3.io/uuid=$METADATA_UUID', 'a=b'],
          providerID: 'metal3://${METADATA_UUID}/"100%"/$(x)',
        },
        preBootstrapCommands: ['touch /etc/never'],
      },
      undefined,
    );
    const host = {
      id: '12345678-1234-4234-8234-123456789012',
      namespace: 'metal',
      name: 'bmh-1',
      macAddresses: [],
      architecture: 'amd64',
      boot: { from: 'disk', userData: '' },
      metadata: { uuid: 'u-1', name: 'node-1' },
    } as const;
    assert.deepEqual(await scriptedIdentity({ directory: DIRECTORY })({ host, ignition: [ignition] }), {
      hostname: 'node-1',
      labels: { 'metal3.io/uuid': 'u-1', a: 'b' },
      providerId: 'metal3://u-1/"100%"/$(x)',
      problems: [],
      notRun: ['capoa-pre-bootstrap.service'],
    });
  });
});
