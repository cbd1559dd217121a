import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentsOf } from '../../../test/support/ignition-node.ts';
import { SlipwayError } from '../../base/errors.ts';
import { discoveryIgnition } from './discovery-ignition.ts';

const NAMED = { nodeRegistration: { name: '$METADATA_NAME' } };
const UNITS = ['configdrive-metadata.service', 'set-hostname.service'];
const FILES = ['/usr/local/bin/configdrive_metadata', '/usr/local/bin/set_hostname'];

describe('the ignition of discovery', () => {
  for (const downloaded of ['{"fake":"ignition"}', '{ "a" : 1 }\n', 'not even JSON', '']) {
    it(`agent/I2: ${JSON.stringify(downloaded)} passes byte for byte where no name is asked for`, () => {
      const everythingElse = {
        nodeRegistration: { kubeletExtraLabels: ['a=b'], providerID: 'x' },
        preBootstrapCommands: ['x'],
        postBootstrapCommands: ['y'],
      };
      assert.equal(discoveryIgnition(downloaded, {}), downloaded);
      assert.equal(discoveryIgnition(downloaded, everythingElse), downloaded);
    });
  }

  it('agent/I2: gets what names the host, and no more', () => {
    const spec = {
      nodeRegistration: { ...NAMED.nodeRegistration, kubeletExtraLabels: ['a=b'], providerID: 'x' },
      preBootstrapCommands: ['x'],
    };
    const { units, scripts } = contentsOf(discoveryIgnition('{"ignition":{"version":"3.1.0"}}', spec));
    assert.deepEqual([[...units.keys()], [...scripts.keys()]], [UNITS, FILES]);
  });

  it('agent/I2: keeps everything else, whatever the version, in its order and with every digit', () => {
    const downloaded =
      '{"ignition":{"version":"3.4.0"},"kernelArguments":{"shouldExist":["x"]},"storage":{"luks":[{"name":"l"}],' +
      '"files":[{"path":"/a","new":12345678901234567890}]},"systemd":{"units":[{"name":"agent.service"}],"new":null},' +
      '"__proto__":{"a":1}}';
    const text = discoveryIgnition(downloaded, NAMED);
    const { storage, systemd, ...rest } = JSON.parse(text);
    assert.deepEqual(Object.keys(JSON.parse(text)), Object.keys(JSON.parse(downloaded)));
    assert.equal(rest.ignition.version, '3.4.0');
    assert.ok(text.includes('"shouldExist":["x"]'));
    assert.ok(text.includes('"__proto__":{"a":1}'));
    assert.deepEqual(storage.luks, [{ name: 'l' }]);
    assert.deepEqual(
      storage.files.map(({ path }: { path: string }) => path),
      ['/a', ...FILES],
    );
    assert.deepEqual(
      systemd.units.map(({ name }: { name: string }) => name),
      ['agent.service', ...UNITS],
    );
  });

  it('agent/I2: a file or unit that the download has under the same name stays as it is there', () => {
    const downloaded =
      '{"storage":{"files":[{"path":"/usr/local/bin/set_hostname"}]},"systemd":{"units":[{"name":"set-hostname.service"}]}}';
    const { storage, systemd } = JSON.parse(discoveryIgnition(downloaded, NAMED));
    assert.deepEqual(storage.files[0], { path: '/usr/local/bin/set_hostname' });
    assert.deepEqual(systemd.units[0], { name: 'set-hostname.service' });
    assert.deepEqual([storage.files.length, systemd.units.length], [2, 2]);
    // A second time there is nothing to add.
    const once = discoveryIgnition('{}', NAMED);
    assert.equal(discoveryIgnition(once, NAMED), once);
  });

  const unusable = [
    '<html>',
    '',
    '[]',
    'null',
    '{"storage":5}',
    '{"systemd":{"units":{}}}',
    '{"storage":{"files":"x"}}',
  ];
  for (const downloaded of unusable) {
    it(`agent/I2: ${JSON.stringify(downloaded)} is no config to add to, and is asked for again`, () => {
      assert.throws(
        () => discoveryIgnition(downloaded, NAMED),
        (thrown) =>
          thrown instanceof SlipwayError &&
          thrown.disposition === 'retry' &&
          thrown.reason === 'InvalidDiscoveryIgnition',
      );
    });
  }

  it('agent/I5: refuses a name that is no variable before a host is booted with it', () => {
    assert.throws(
      () => discoveryIgnition('{}', { nodeRegistration: { name: 'x$(reboot)' } }),
      /spec\.nodeRegistration\.name must be a variable/,
    );
  });
});
