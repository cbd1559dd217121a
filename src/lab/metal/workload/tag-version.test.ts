import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tagVersion } from './tag-version.ts';

describe('tagVersion', () => {
  const rows = [
    ['quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64', '4.20.1'],
    ['registry.example:5000/release:4.20.1-multi', '4.20.1'],
    ['registry.example/release:4.21.0-rc.1-aarch64', '4.21.0-rc.1'],
    ['registry.example/release:4.18.0-okd-scos.2-x86_64', '4.18.0-okd-scos.2'],
    ['registry.example/release:4.20.1', '4.20.1'],
    ['registry.example/release@sha256:0123', undefined],
    ['registry.example:5000/release', undefined],
  ] as const;
  for (const [image, version] of rows)
    it(`agent/S25: finds ${version ?? 'nothing'} in ${image}`, async () => {
      assert.equal(await tagVersion(image), version);
    });
});
