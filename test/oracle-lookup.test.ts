import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cacheDirectory } from '../oracles/cache.ts';
import { assetVariable, findOracle, type Machine } from '../oracles/find.ts';
import { unmetNeed } from '../oracles/need.ts';
import { ORACLES, type Oracle } from '../oracles/registry.ts';
import { isWithin, versionIn } from '../oracles/version.ts';
import { oracleNeeds } from './support/needs-oracle.ts';

interface FakeMachine {
  readonly variables?: Record<string, string>;
  /** What each program prints for its version command, by path. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** A machine on which only the named programs exist; the cache keeps NAME as `/cache/built/NAME`. */
const machine = ({ variables = {}, programs = {} }: FakeMachine = {}): Machine => ({
  variables,
  cacheDirectory: '/cache',
  cachedFile: ({ name, source }) => (source.kind === 'debian' ? undefined : `/cache/built/${name}`),
  isExecutable: (path) => Object.hasOwn(programs, path),
  versionOutput: (path) => (programs[path] === 'broken' ? undefined : programs[path]),
});

function oracle(name: string): Oracle {
  const found = ORACLES.find((candidate) => candidate.name === name);
  assert.ok(found, name);
  return found;
}

function foundPath(name: string, given: FakeMachine): string | undefined {
  const finding = findOracle(oracle(name), machine(given));
  return finding.state === 'missing' ? undefined : finding.path;
}

const ETCD = 'etcd Version: 3.6.16';
const EVERYWHERE = {
  '/asset/etcd': ETCD,
  '/kubebuilder/etcd': ETCD,
  '/cache/built/etcd': ETCD,
  '/cache/etcd': ETCD,
  '/usr/local/kubebuilder/bin/etcd': ETCD,
  '/first/etcd': ETCD,
  '/second/etcd': ETCD,
};
const VARIABLES = { TEST_ASSET_ETCD: '/asset/etcd', KUBEBUILDER_ASSETS: '/kubebuilder', PATH: '/first:/second' };

describe('looking for an oracle', () => {
  const order = Object.keys(EVERYWHERE);
  for (const [index, path] of order.entries()) {
    it(`oracles/F1: ${path} wins over everything that comes later`, () => {
      const programs = Object.fromEntries(order.slice(index).map((later) => [later, ETCD]));
      const { TEST_ASSET_ETCD: asset, ...others } = VARIABLES;
      const variables = index === 0 ? { ...others, TEST_ASSET_ETCD: asset } : others;
      assert.equal(foundPath('etcd', { variables, programs }), path);
    });
  }

  it('oracles/F1: TEST_ASSET_… wins over KUBEBUILDER_ASSETS', () => {
    assert.equal(foundPath('etcd', { variables: VARIABLES, programs: EVERYWHERE }), '/asset/etcd');
  });

  it('oracles/F1: every run of other characters in the name becomes one underscore', () => {
    assert.equal(assetVariable('kube-controller-manager'), 'TEST_ASSET_KUBE_CONTROLLER_MANAGER');
    assert.equal(assetVariable('a--b.c'), 'TEST_ASSET_A_B_C');
  });

  it('never replaces a file that was named by hand', () => {
    const { TEST_ASSET_ETCD: _, ...others } = EVERYWHERE as Record<string, string>;
    const programs = Object.fromEntries(Object.entries(others).filter(([path]) => path !== '/asset/etcd'));
    const finding = findOracle(oracle('etcd'), machine({ variables: VARIABLES, programs }));
    assert.equal(finding.state, 'unsupported');
    assert.match(finding.reason, /TEST_ASSET_ETCD names \/asset\/etcd, which is not an executable file/);
  });

  it('oracles/F3: judges a file that was named by hand by its version too', () => {
    const programs = { ...EVERYWHERE, '/asset/etcd': 'etcd Version: 3.3.27' };
    const finding = findOracle(oracle('etcd'), machine({ variables: VARIABLES, programs }));
    assert.deepEqual(finding, {
      state: 'unsupported',
      path: '/asset/etcd',
      place: 'TEST_ASSET',
      version: '3.3.27',
      reason: 'version 3.3.27 is outside the supported range (3.4 or newer)',
    });
  });

  it('oracles/F2: finds kube-controller-manager and kube-scheduler in KUBEBUILDER_ASSETS too', () => {
    for (const name of ['kube-controller-manager', 'kube-scheduler']) {
      const given = {
        variables: { KUBEBUILDER_ASSETS: '/kubebuilder' },
        programs: { [`/kubebuilder/${name}`]: 'Kubernetes v1.36.3' },
      };
      assert.equal(foundPath(name, given), `/kubebuilder/${name}`);
    }
  });

  it('treats an empty variable as not set', () => {
    const variables = { TEST_ASSET_ETCD: '', KUBEBUILDER_ASSETS: '', PATH: '/first' };
    assert.equal(foundPath('etcd', { variables, programs: { '/first/etcd': ETCD } }), '/first/etcd');
  });

  it('takes a node on PATH only when it is the asked major', () => {
    const variables = { PATH: '/new:/old' };
    const programs = { '/new/node': 'v24.21.0', '/old/node': 'v20.20.2' };
    assert.equal(foundPath('node-20', { variables, programs }), '/old/node');
    assert.equal(foundPath('node-16', { variables, programs }), undefined);
  });

  it('reports a node of another major that somebody put where only that node belongs', () => {
    const variables = { KUBEBUILDER_ASSETS: '/kubebuilder', PATH: '/old' };
    const programs = { '/kubebuilder/node-20': 'v24.21.0', '/old/node': 'v20.20.2' };
    const finding = findOracle(oracle('node-20'), machine({ variables, programs }));
    assert.equal(finding.state, 'unsupported');
    assert.equal(finding.path, '/kubebuilder/node-20');
  });

  it('does not take an empty entry of PATH for the folder it stands in', () => {
    for (const path of ['', ':', '/first::/second']) {
      assert.equal(foundPath('etcd', { variables: { PATH: path }, programs: { etcd: ETCD } }), undefined);
    }
  });

  it('oracles/F4: names the folder in KUBEBUILDER_ASSETS when it has looked there', () => {
    const finding = findOracle(oracle('etcd'), machine({ variables: { KUBEBUILDER_ASSETS: '/kubebuilder' } }));
    assert.equal(finding.state, 'missing');
    assert.equal(finding.lookedIn[1], '$KUBEBUILDER_ASSETS=/kubebuilder');
  });

  it('oracles/F3: reports a program that does not run, or is out of range, with the reason', () => {
    const rows = { broken: /does not run/, 'Kubernetes v1.20.1': /version 1\.20\.1 is outside .*1\.34 or newer/ };
    for (const [output, reason] of Object.entries(rows)) {
      const given = { variables: { PATH: '/bin' }, programs: { '/bin/kube-apiserver': output } };
      const finding = findOracle(oracle('kube-apiserver'), machine(given));
      assert.equal(finding.state, 'unsupported');
      assert.match(finding.reason, reason);
    }
  });
});

describe('the oracles that CI requires', () => {
  const required = readFileSync(join(import.meta.dirname, '../.ci/required-oracles'), 'utf8')
    .trim()
    .split('\n');
  const suites = globSync('{conformance,e2e,oracles,.}/*.test.ts', { cwd: import.meta.dirname })
    .filter((file) => !/^(\.\/)?oracle-/.test(file))
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'));

  for (const name of required) {
    it(`oracles/F5: ${name} is asked for by a suite, or requiring it would prove nothing`, () => {
      oracle(name);
      assert.ok(suites.some((text) => text.includes(`needsOracle('${name}'`)));
    });
  }
});

describe('the cache directory', () => {
  const cases = [
    {
      name: 'is SLIPWAY_ORACLES_DIR when set',
      given: { SLIPWAY_ORACLES_DIR: '/d', XDG_CACHE_HOME: '/x' },
      want: '/d',
    },
    { name: 'is below XDG_CACHE_HOME otherwise', given: { XDG_CACHE_HOME: '/x' }, want: '/x/slipway/oracles' },
    {
      name: 'is below ~/.cache otherwise',
      given: { XDG_CACHE_HOME: '' },
      want: '/home/jane/.cache/slipway/oracles',
    },
  ];
  for (const { name, given, want } of cases)
    it(name, () => assert.equal(cacheDirectory(given, '/home/jane'), want));
});

describe('a version', () => {
  const outputs = [
    { given: 'etcd Version: 3.6.16\nGit SHA: Not provided\nGo Version: go1.26.8', want: '3.6.16' },
    { given: 'Kubernetes v1.36.3', want: '1.36.3' },
    { given: 'Client Version: v1.36.3\nKustomize Version: v5.8.1', want: '1.36.3' },
    { given: 'Kubernetes v1.37.0-alpha.1+abc', want: '1.37.0-alpha.1+abc' },
    { given: 'tmux 3.3a', want: '3.3' },
    { given: 'strace -- version 6.1', want: '6.1' },
    { given: 'v20.20.2', want: '20.20.2' },
    { given: 'Kubernetes v0.0.0-master+$Format:%H$', want: undefined },
    { given: 'no number here', want: undefined },
  ];
  for (const { given, want } of outputs) {
    it(`is ${want ?? 'unknown'} in ${JSON.stringify(given)}`, () => assert.equal(versionIn(given), want));
  }

  const ranges = [
    { version: '3.5.13', range: { min: '3.5.13' }, want: true },
    { version: '3.5.9', range: { min: '3.5.13' }, want: false },
    { version: '3.10.0', range: { min: '3.9' }, want: true },
    { version: '1.37.9', range: { below: '1.38' }, want: true },
    { version: '1.38.0', range: { below: '1.38' }, want: false },
    { version: '1.38.0-rc.1', range: { min: '1.38' }, want: true },
    { version: '2', range: {}, want: true },
  ];
  for (const { version, range, want } of ranges) {
    it(`${version} is ${want ? 'in' : 'outside'} ${JSON.stringify(range)}`, () =>
      assert.equal(isWithin(version, range), want));
  }
});

describe('needsOracle', () => {
  const quiet = (): void => {};

  for (const { name } of ORACLES) {
    it(`oracles/F4: skips a suite for ${name} on an empty machine and says where it looked`, () => {
      const { skip } = oracleNeeds(machine(), quiet)(name);
      const variable = assetVariable(name);
      const places = `$${variable}, $KUBEBUILDER_ASSETS, /cache, /usr/local/kubebuilder/bin, PATH`;
      assert.equal(skip, `oracle ${name} not found (looked in ${places})`);
    });
  }

  it('oracles/F5: throws instead when SLIPWAY_REQUIRE_ORACLES names a missing oracle', () => {
    const needs = oracleNeeds(machine({ variables: { SLIPWAY_REQUIRE_ORACLES: 'kubectl, etcd' } }), quiet);
    assert.throws(() => needs('etcd'), /SLIPWAY_REQUIRE_ORACLES names etcd, but: oracle etcd not found/);
    assert.equal(typeof needs('kube-apiserver').skip, 'string');
  });

  it('oracles/F5: refuses a required name that no oracle has, with the nearest one', () => {
    const variables = { SLIPWAY_REQUIRE_ORACLES: 'kubectl,,etdc' };
    assert.throws(() => oracleNeeds(machine({ variables }), quiet), {
      message: 'SLIPWAY_REQUIRE_ORACLES names etdc, which is no oracle. Did you mean etcd?',
    });
  });

  it('oracles/F5: throws also when a required oracle is there but too old', () => {
    const variables = { SLIPWAY_REQUIRE_ORACLES: 'etcd', PATH: '/bin' };
    const needs = oracleNeeds(machine({ variables, programs: { '/bin/etcd': 'etcd Version: 3.4.23' } }), quiet);
    assert.throws(
      () => needs('etcd', { min: '3.5.13' }),
      /names etcd, but: oracle etcd 3\.4\.23 is older than 3\.5\.13/,
    );
  });

  it('oracles/E5: runs a plain suite on etcd 3.4.23 and skips a watch-list suite with the reason', () => {
    const given = { variables: { PATH: '/bin' }, programs: { '/bin/etcd': 'etcd Version: 3.4.23' } };
    const needs = oracleNeeds(machine(given), quiet);
    assert.deepEqual(needs('etcd'), { skip: false });
    assert.equal(
      needs('etcd', { min: '3.5.13' }).skip,
      'oracle etcd 3.4.23 is older than 3.5.13: watch-list requests fail with ' +
        '"the required storage feature RequestWatchProgress is disabled"',
    );
  });

  it('oracles/E3: blames the watch-list only on versions that have the defect', () => {
    const reasonFor = (version: string): string | undefined => {
      const finding = { state: 'supported', path: '/bin/etcd', place: 'PATH', version } as const;
      return unmetNeed(oracle('etcd'), finding, { min: '3.6.0' });
    };
    assert.match(reasonFor('3.4.30') ?? '', /RequestWatchProgress/);
    assert.doesNotMatch(reasonFor('3.4.31') ?? '', /RequestWatchProgress/);
    assert.match(reasonFor('3.5.12') ?? '', /RequestWatchProgress/);
    assert.doesNotMatch(reasonFor('3.5.13') ?? '', /RequestWatchProgress/);
  });

  it('oracles/A3: an unstamped kube-apiserver is of unknown version; suites with a minimum are skipped', () => {
    const output = 'Kubernetes v0.0.0-master+$Format:%H$';
    const given = { variables: { PATH: '/bin' }, programs: { '/bin/kube-apiserver': output } };
    const needs = oracleNeeds(machine(given), quiet);
    assert.deepEqual(needs('kube-apiserver'), { skip: false });
    assert.equal(
      needs('kube-apiserver', { min: '1.35' }).skip,
      'oracle kube-apiserver: version unknown, 1.35 or newer is needed',
    );
  });

  it('oracles/F3: announces the version of each oracle that is used, once', () => {
    const lines: string[] = [];
    const given = { variables: { PATH: '/bin' }, programs: { '/bin/etcd': ETCD } };
    const needs = oracleNeeds(machine(given), (line) => lines.push(line));
    needs('etcd');
    needs('etcd', { min: '3.5.13' });
    needs('kubectl');
    assert.deepEqual(lines, ['oracle etcd 3.6.16 (/bin/etcd)']);
  });

  it('refuses a name that no oracle has', () => {
    assert.throws(() => oracleNeeds(machine(), quiet)('ectd'), /no oracle is called ectd; known are etcd, /);
  });
});
