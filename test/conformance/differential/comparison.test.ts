import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { removeAt, valuesAt } from './answer-path.ts';
import { parseCaseFile, type Step } from './case-file.ts';
import { protobufBody } from './protobuf-body.ts';
import type { Recorded } from './recorded-answer.ts';
import { compareSides } from './step-result.ts';
import { fill } from './variables.ts';

const NOW_MS = Date.parse('2026-11-15T20:50:00Z');
const place = { url: 'https://127.0.0.1:6443', webhookUrl: 'https://127.0.0.1:1/upstream', nowMs: NOW_MS };

const answered = (body: unknown, step: Step = { do: 'GET /x' }): Recorded => ({
  label: 'GET /x',
  step,
  status: 200,
  headers: {},
  body,
});
const verdicts = (upstream: readonly Recorded[], ours: readonly Recorded[], isControl = false) =>
  compareSides({ answers: upstream, place }, { answers: ours, place }, isControl).map(({ verdict }) => verdict);
const kinds = (upstream: readonly unknown[], ours: readonly unknown[]) =>
  verdicts(
    upstream.map((body) => answered(body)),
    ours.map((body) => answered(body)),
  ).map(({ kind }) => kind);

const object = (resourceVersion: string, rest: object = {}) => ({
  metadata: { name: 'a', resourceVersion, ...rest },
});
const UID = '11111111-2222-4333-8444-55555555555';

describe('the comparison of two servers', () => {
  const cases: readonly { name: string; upstream: unknown[]; ours: unknown[]; want: string[] }[] = [
    { name: 'sees a missing field', upstream: [{ a: 1, b: 2 }], ours: [{ a: 1 }], want: ['different'] },
    { name: 'sees an additional field', upstream: [{ a: 1 }], ours: [{ a: 1, b: null }], want: ['different'] },
    { name: 'sees another order of a list', upstream: [[1, 2]], ours: [[2, 1]], want: ['different'] },
    {
      name: 'does not care for the order of keys',
      upstream: [{ a: 1, b: 2 }],
      ours: [{ b: 2, a: 1 }],
      want: ['same'],
    },
    {
      name: 'keeps the order of revisions',
      upstream: [object('5'), object('9')],
      ours: [object('70'), object('60')],
      want: ['different', 'different'],
    },
    {
      name: 'does not care for the size of revisions',
      upstream: [object('5'), object('9'), object('9')],
      ours: [object('600'), object('7000'), object('7000')],
      want: ['same', 'same', 'same'],
    },
    {
      name: 'sees a revision that did not change',
      upstream: [object('5'), object('9')],
      ours: [object('5'), object('5')],
      want: ['same', 'different'],
    },
    {
      name: 'tells two identifiers apart',
      upstream: [{ uid: `${UID}1` }, { uid: `${UID}2` }],
      ours: [{ uid: `${UID}3` }, { uid: `${UID}3` }],
      want: ['same', 'different'],
    },
    {
      name: 'takes times of the run for equal, others not',
      upstream: ['2026-11-15T20:50:00Z', '2001-01-01T00:00:00Z'],
      ours: ['2026-11-15T20:51:00Z', '2001-01-01T00:00:01Z'],
      want: ['same', 'different'],
    },
    {
      name: 'sees the digits of a time of the run',
      upstream: ['2026-11-15T20:50:00.123456Z'],
      ours: ['2026-11-15T20:50:00.123Z'],
      want: ['different'],
    },
    {
      name: 'sees a list that is older than its items',
      upstream: [{ items: [object('5')], metadata: { resourceVersion: '6' } }],
      ours: [{ items: [object('5')], metadata: { resourceVersion: '4' } }],
      want: ['different'],
    },
    {
      name: 'takes causes for a set',
      upstream: [invalid(['a', 'b'])],
      ours: [invalid(['b', 'a'])],
      want: ['same'],
    },
    {
      name: 'sees a missing cause',
      upstream: [invalid(['a', 'b'])],
      ours: [invalid(['a', 'c'])],
      want: ['different'],
    },
  ];
  for (const { name, upstream, ours, want } of cases) {
    it(name, () => assert.deepEqual(kinds(upstream, ours), want));
  }

  it('sees a case that ended early', () => {
    assert.deepEqual(kinds([1, 2], [1]), ['same', 'different']);
  });

  it('takes a failed expectation for a difference, also when both fail', () => {
    const failed = { ...answered(1), failure: 'expected otherwise' };
    assert.deepEqual(
      verdicts([failed], [failed]).map(({ kind }) => kind),
      ['different'],
    );
  });
});

function invalid(fields: readonly string[]) {
  const causes = fields.map((field) => ({ field, message: 'Required value' }));
  const list = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  return { kind: 'Status', message: `X is invalid: [${list}]`, details: { causes } };
}

describe('a deliberate deviation', () => {
  const step: Step = { do: 'GET /x', deviation: { id: 'E15', ours: { reason: 'BadRequest' } } };
  const upstream = answered({ reason: 'Other' }, step);

  it('is allowed when our answer is the one that is written down', () => {
    assert.deepEqual(verdicts([upstream], [answered({ reason: 'BadRequest' }, step)]), [
      { kind: 'deliberate', id: 'E15' },
    ]);
  });

  it('is a difference when our answer is a third one', () => {
    const [verdict] = verdicts([upstream], [answered({ reason: 'Third' }, step)]);
    assert.equal(verdict?.kind, 'different');
  });

  it('must not stay in the list when both answer alike', () => {
    const [verdict] = verdicts([upstream], [upstream]);
    assert.equal(verdict?.kind, 'different');
  });
});

describe('a file of cases', () => {
  const refused: readonly { name: string; text: string; message: RegExp }[] = [
    { name: 'a case without a rule', text: 'cases: [{ name: any, steps: [] }]', message: /names no rule/ },
    {
      name: 'an unknown key of a step',
      text: "cases: [{ name: 'apiserver/E1: x', steps: [{ do: GET /, whit: 1 }] }]",
      message: /unknown key whit/,
    },
    {
      name: 'a deviation that section 26 does not list',
      text: "cases: [{ name: 'apiserver/E1: x', steps: [{ do: GET /, deviation: { id: E1, ours: {} } }] }]",
      message: /no deliberate deviation/,
    },
    {
      name: 'two cases of one name',
      text: "cases: [{ name: 'apiserver/E1: x', steps: [] }, { name: 'apiserver/E1: x', steps: [] }]",
      message: /two cases/,
    },
  ];
  for (const { name, text, message } of refused) {
    it(`is refused with ${name}`, () => assert.throws(() => parseCaseFile(text, 'file'), message));
  }

  it('may use variables, also to calculate', () => {
    const variables = new Map<string, unknown>([
      ['rv', '9'],
      ['list', [1]],
    ]);
    assert.deepEqual(fill({ a: '${rv-1}', b: 'x${rv}', c: '${list}' }, variables), { a: '8', b: 'x9', c: [1] });
    assert.throws(() => fill('${other}', variables), /no variable is called other/);
  });

  it('may lay an object over another', () => {
    const variables = new Map<string, unknown>([['each', { b: 2 }]]);
    assert.deepEqual(fill({ $merge: [{ a: 1, b: 1 }, '${each}'] }, variables), { a: 1, b: 2 });
  });
});

describe('a path into an answer', () => {
  const body = { items: [{ metadata: { name: 'a', annotations: { 'x.y/z': 1 } } }, { metadata: { name: 'b' } }] };

  it('finds by key, index, quoted key, filter and wildcard', () => {
    assert.deepEqual(valuesAt(body, 'items[0].metadata.annotations["x.y/z"]'), [1]);
    assert.deepEqual(valuesAt(body, 'items[metadata.name=b].metadata.name'), ['b']);
    assert.deepEqual(valuesAt(body, 'items[*].metadata.name'), ['a', 'b']);
    assert.deepEqual(valuesAt(body, 'items[7].metadata'), []);
  });

  it('takes away what it finds', () => {
    const copy = structuredClone(body);
    removeAt(copy, 'items[*].metadata.name');
    assert.deepEqual(valuesAt(copy, 'items[*].metadata.name'), []);
  });
});

describe('a protobuf body', () => {
  it('is an envelope with the message inside', () => {
    const body = protobufBody({
      apiVersion: 'v1',
      kind: 'X',
      raw: [
        [1, 'a'],
        [2, 300],
        [3, [[1, true]]],
      ],
    });
    assert.equal(body.toString('hex'), '6b3873000a070a027631120158120a0a016110ac021a0208011a002200');
  });
});
