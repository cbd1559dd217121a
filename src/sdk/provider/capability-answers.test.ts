import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CAPABILITY_METHODS, CAPABILITY_NAMES } from '../capabilities/capabilities.ts';
import { capabilityAnswers } from './capability-answers.ts';

const ANSWERS = capabilityAnswers(/^acme:\/\/.+$/);

const ABSENT = { state: 'absent', evidence: 'the cloud says so' };
const VOLUME = { state: 'ready', id: 'v-1', sizeBytes: 1n, zones: ['a'], tags: {}, attachments: [] };
const SNAPSHOT = {
  state: 'ready',
  id: 's-1',
  volumeId: 'v-1',
  sizeBytes: 1n,
  takenAt: '2026-01-31T12:00:00Z',
  tags: {},
};
const IMAGE = { state: 'ready', id: 'i-1', architecture: 'amd64', tags: {} };
const NETWORK = { state: 'ready', id: 'n-1', cidrs: ['10.0.0.0/8'], tags: {} };
const ROUTE = { targetNode: '', destinationCIDR: '10.0.0.0/24' };
const ATTACHED = { providerID: 'acme://1', readOnly: false, state: 'attached', device: { serial: 'x' } };

interface Case {
  readonly right: readonly unknown[];
  readonly wrong: readonly (readonly [unknown, RegExp])[];
}

const page = (item: object): Case => ({
  right: [
    { items: [item], more: false },
    { items: [], more: true },
  ],
  wrong: [
    [[item], /must be an object, not a list/],
    [{ items: [item] }, /more is missing/],
    [{ items: [{}], more: false }, /items\[0\]\.\w+ is missing/],
  ],
});

const CREATED: Case = {
  right: [{ id: 'x' }],
  wrong: [
    [undefined, /must be an object, not nothing/],
    [{ id: '' }, /id must be text that is not empty/],
  ],
};

const thing = (item: object): Case => ({
  right: [item, ABSENT],
  wrong: [
    [undefined, /must be an object, not nothing/],
    [{ state: 'absent' }, /evidence is missing/],
    [{ ...item, state: 'gone' }, /state must be one of/],
    [{ ...item, tags: { a: 1 } }, /tags\.a must be text/],
  ],
});

const CASES: Readonly<Record<string, Case>> = {
  'zones.list': {
    right: [[{ name: 'a', region: 'eu', isAvailable: true }]],
    wrong: [[[{ name: 'a', region: 'eu' }], /\[0\]\.isAvailable is missing/]],
  },
  'loadBalancers.find': { right: [undefined, [], [{ ip: '10.0.0.1' }]], wrong: [[null, /a list, not null/]] },
  'routes.list': {
    right: [[ROUTE, { ...ROUTE, name: 'r', blackhole: true }]],
    wrong: [[[{ ...ROUTE, targetNode: undefined }], /targetNode must be text, not nothing/]],
  },
  'volumes.create': CREATED,
  'volumes.describe': {
    right: [...thing(VOLUME).right, { ...VOLUME, source: { snapshotId: 's' }, attachments: [ATTACHED] }],
    wrong: [
      ...thing(VOLUME).wrong,
      [{ ...VOLUME, sizeBytes: 1 }, /sizeBytes must be a bigint/],
      [{ ...VOLUME, attachments: [{ ...ATTACHED, providerID: 'x' }] }, /attachments\[0\]\.providerID must be/],
      [{ ...VOLUME, source: {} }, /source\.volumeId is missing/],
    ],
  },
  'volumes.list': page(VOLUME),
  'volumes.attach': { right: [{}, { serial: 'x' }], wrong: [[undefined, /must be an object/]] },
  'volumes.grow': { right: [2n], wrong: [[2, /must be a bigint/]] },
  'snapshots.describe': {
    right: thing(SNAPSHOT).right,
    wrong: [...thing(SNAPSHOT).wrong, [{ ...SNAPSHOT, takenAt: 'today' }, /takenAt must be a time/]],
  },
  'snapshots.list': page(SNAPSHOT),
  'images.describe': thing(IMAGE),
  'images.list': page(IMAGE),
  'networks.ensure': CREATED,
  'networks.describe': thing(NETWORK),
  'dns.findZone': { right: [undefined, { id: 'z', name: 'a.b' }], wrong: [[{ id: 'z' }, /name is missing/]] },
  'dns.remove': { right: ['removed', 'absent', 'foreign'], wrong: [[true, /must be one of/]] },
  'objectStore.ensure': {
    right: [{ name: 'b', region: '', endpoint: 'https://x' }],
    wrong: [[{ name: 'b', region: '' }, /endpoint is missing/]],
  },
  'objectStore.link': { right: ['https://x'], wrong: [['', /not empty/]] },
  'credentials.ensure': { right: [{ token: 'x' }], wrong: [[{ token: 1 }, /token must be text/]] },
  'credentials.check': { right: ['mint'], wrong: [['yes', /must be one of/]] },
  'dns.ensure': { right: [undefined, 3], wrong: [] },
};

function issuesOf(method: string, value: unknown): readonly string[] {
  const [capability = '', name = ''] = method.split('.');
  const issues: string[] = [];
  const shape = Object.entries(ANSWERS).find(([one]) => one === capability)?.[1][name];
  assert.ok(shape !== undefined, method);
  shape(value, '', ({ message }) => issues.push(message));
  return issues;
}

describe('answers of capabilities', () => {
  for (const [method, { right, wrong }] of Object.entries(CASES)) {
    it(`ccm/S16: of ${method} are checked`, () => {
      for (const value of right) assert.deepEqual(issuesOf(method, value), []);
      for (const [value, says] of wrong) assert.match(issuesOf(method, value).join('\n'), says);
    });
  }

  it('ccm/S16: are checked for every method that there is', () => {
    for (const name of CAPABILITY_NAMES) {
      const { required, optional } = CAPABILITY_METHODS[name];
      const methods = [...required, ...optional].filter((method) => method !== 'declare');
      assert.deepEqual(Object.keys(ANSWERS[name]).toSorted(), methods.toSorted());
    }
  });
});
