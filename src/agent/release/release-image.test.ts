import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  architectureOf,
  DEFAULT_REPOSITORIES,
  isDefaultRepository,
  isGeneralAvailability,
  releaseImage,
  unsupportedVersion,
} from './release-image.ts';

const { openshift, okd } = DEFAULT_REPOSITORIES;

describe('releaseImage', () => {
  const cases = [
    { version: '4.20.1', want: `${openshift}:4.20.1-multi` },
    { version: '4.19.0-ec.2', want: `${openshift}:4.19.0-ec.2-multi` },
    { version: '4.18.0-okd-scos.2', want: `${okd}:4.18.0-okd-scos.2` },
    { version: '4.17.0-okd-scos.ec.4', want: `${okd}:4.17.0-okd-scos.ec.4` },
    { version: '4.16.0-0.okd-scos-2024-09-24-151747', want: `${okd}:4.16.0-0.okd-scos-2024-09-24-151747` },
    {
      version: '4.18.0-0.nightly-2025-02-28-213046',
      want: `${openshift}:4.18.0-0.nightly-2025-02-28-213046-multi`,
    },
    { version: 'latest', want: `${openshift}:latest-multi` },
    { version: '4.20.1', override: '', want: `${openshift}:4.20.1-multi` },
    { version: '4.20.1', override: 'r.example:5000/x', want: 'r.example:5000/x:4.20.1-multi' },
    { version: '4.18.0-okd-scos.2', override: 'r.example/x', want: 'r.example/x:4.18.0-okd-scos.2-multi' },
  ];
  for (const { version, override, want } of cases) {
    it(`agent/R1: is ${want} for ${version}${override === undefined ? '' : ` with override "${override}"`}`, () => {
      assert.equal(releaseImage({ version, architecture: 'multi', repositoryOverride: override }), want);
    });
  }

  it('agent/R1: is in other repositories when they are set', () => {
    const repositories = { openshift: 'r.example/ocp', okd: 'r.example/okd' };
    assert.equal(
      releaseImage({ version: '4.20.1', architecture: 'x86_64', repositories }),
      'r.example/ocp:4.20.1-x86_64',
    );
    assert.equal(
      releaseImage({ version: '4.20.1-okd-scos.1', architecture: 'x86_64', repositories }),
      'r.example/okd:4.20.1-okd-scos.1',
    );
  });
});

describe('architectureOf', () => {
  const cases: readonly { name: string; given: readonly (string | undefined)[]; want: string }[] = [
    { name: 'agent/R2: is common or multi', given: [], want: 'multi' },
    { name: 'agent/R2: is common or multi', given: ['x86_64'], want: 'x86_64' },
    { name: 'agent/R2: is common or multi', given: ['x86_64', 'x86_64'], want: 'x86_64' },
    { name: 'agent/R2: is common or multi', given: ['x86_64', 's390x'], want: 'multi' },
    { name: 'agent/R2: is common or multi', given: ['', ''], want: 'multi' },
    { name: 'agent/X26: has the name that tags have', given: [''], want: 'multi' },
    { name: 'agent/X26: has the name that tags have', given: [undefined, 'ppc64le'], want: 'ppc64le' },
    { name: 'agent/X26: has the name that tags have', given: ['arm64'], want: 'aarch64' },
    { name: 'agent/X26: has the name that tags have', given: ['arm64', 'aarch64'], want: 'aarch64' },
    { name: 'agent/X26: has the name that tags have', given: ['amd64', 'x86_64', ''], want: 'x86_64' },
    { name: 'agent/X26: has the name that tags have', given: ['amd64', 'arm64'], want: 'multi' },
  ];
  for (const { name, given, want } of cases) {
    it(`${name}: ${want} for ${JSON.stringify(given)}`, () => {
      const configs = given.map((cpuArchitecture) => ({
        spec: cpuArchitecture === undefined ? {} : { cpuArchitecture },
      }));
      assert.equal(architectureOf(configs), want);
    });
  }

  it('agent/R2: takes a config without a spec for one that says nothing', () => {
    assert.equal(architectureOf([{}, { spec: { cpuArchitecture: 'x86_64' } }]), 'x86_64');
  });
});

describe('isGeneralAvailability', () => {
  const cases = [
    { given: '4.18.0-okd-scos.2', want: true },
    { given: '4.17.0-okd-scos.ec.4', want: false },
    { given: '4.16.0-0.okd-scos-2024-09-24-151747', want: false },
    { given: '4.18.0-okd-scos', want: false },
    { given: '4.18.0-2.okd-scos', want: false },
    { given: '4.12.0', want: true },
    { given: 'v4.12', want: true },
    { given: '4.19.0-ec.2', want: false },
    { given: '4.19.0-rc.2', want: false },
    { given: '4.18.0-0.nightly-2025-02-28-213046', want: false },
    { given: '4.17.0-0.ci-2025-03-03-134232', want: false },
    { given: 'notavalidversion', want: false },
    { given: '4.12.0-alpha.1.beta', want: false },
    { given: '4.12.0+build.123.meta', want: false },
    { given: '4.12.0-rc.1+build.123', want: false },
  ];
  for (const { given, want } of cases) {
    it(`agent/R5: is ${want} for ${given}`, () => {
      assert.equal(isGeneralAvailability(given), want);
    });
  }
});

describe('unsupportedVersion', () => {
  for (const given of ['4.12.0', '4.13.99', 'v4.13', '3', '4.14.0-rc.1', ' 4.12.0']) {
    it(`agent/C3: refuses ${given} with the oldest version that is installed`, () => {
      const want = `version ${given} is not supported, the minimum supported version is 4.14.0`;
      assert.equal(unsupportedVersion(given), want);
    });
  }
  for (const given of ['4.14.0', '4.14', '4.14.0+build', '4.20.1', '5.0.0-rc.1', 'latest', '', '4.13-rc']) {
    it(`agent/C3: says nothing against "${given}"`, () => {
      assert.equal(unsupportedVersion(given), undefined);
    });
  }
});

describe('isDefaultRepository', () => {
  const cases = [
    { given: undefined, want: true },
    { given: '', want: true },
    { given: openshift, want: true },
    { given: okd, want: true },
    { given: `${openshift}/`, want: false },
    { given: 'r.example/x', want: false },
  ];
  for (const { given, want } of cases) {
    it(`agent/X1: is ${want} for ${given ?? 'no annotation'}`, () => {
      assert.equal(isDefaultRepository(given), want);
    });
  }
});
