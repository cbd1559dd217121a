import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/json.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SlipwayError } from '../../base/errors.ts';
import { invalid as invalidField, required } from '../../object/field-error.ts';
import { applyJsonPatch } from '../../object/json-patch.ts';
import { ApiError } from '../client/api-error.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { BodyTooLarge } from '../serving/request-body.ts';
import { type AdmissionResult, denied, invalid } from './admission-result.ts';
import type { AdmissionHandler } from './typed-webhooks.ts';
import { Webhooks } from './webhooks.ts';

// Tests look into answers they asked for themselves.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

interface Widget extends KubeObject {
  readonly spec: { readonly size: number; readonly color?: string };
}
const WIDGET: Kind<Widget> = {
  group: 'ex.io',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
};
const POD: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };
const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };
const MUTATE = '/mutate-ex-io-v1-widget';
const VALIDATE = '/validate-ex-io-v1-widget';

const widget = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name: 'w1', namespace: 'demo', ...metadata },
  spec,
});

const review = (request: JsonObject, version = 'v1'): JsonObject => ({
  kind: 'AdmissionReview',
  apiVersion: `admission.k8s.io/${version}`,
  request: {
    uid: 'u1',
    kind: { group: 'ex.io', version: 'v1', kind: 'Widget' },
    resource: { group: 'ex.io', version: 'v1', resource: 'widgets' },
    name: 'w1',
    namespace: 'demo',
    operation: 'CREATE',
    userInfo: { username: 'jane', groups: ['a', 1] },
    ...request,
  },
});

function world(options: { readonly checksDefaulters?: boolean } = {}) {
  const clock = new VirtualClock();
  const metrics = new PrometheusMetrics();
  const webhooks = new Webhooks({ clock, log: LOG, metrics, ...options });
  const post = (path: string, body: JsonObject | string, more: Loose = {}): Promise<Loose> =>
    webhooks
      .serve({
        method: 'POST',
        path,
        query: new URLSearchParams(more.query ?? ''),
        headers: { 'content-type': more.type ?? 'application/json' },
        body:
          more.body ??
          (() => Promise.resolve(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))),
        signal: more.signal ?? new AbortController().signal,
      })
      .then(({ status, body: text }) => {
        const shown = Buffer.from(text ?? '').toString();
        return { status, review: shown.startsWith('{') ? JSON.parse(shown) : shown };
      });
  const respond = async (path: string, body: JsonObject | string, more: Loose = {}): Promise<Loose> => {
    const answer = await post(path, body, more);
    assert.equal(answer.status, 200);
    return answer.review.response;
  };
  return { clock, metrics, webhooks, post, respond };
}

const reasonOf = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (error) {
    return error instanceof SlipwayError ? error.reason : String(error);
  }
};

const handling = (handler: AdmissionHandler) => {
  const w = world();
  w.webhooks.admission({ type: 'validating', path: '/custom', rules: [] }, handler);
  return w;
};

describe('paths of webhooks', () => {
  it('runtime/W2: are made of group, version and kind, or chosen; one that is taken is an error', () => {
    const { webhooks } = world();
    webhooks.mutating(WIDGET, () => {}).validating(WIDGET, { validateCreate: () => {} });
    webhooks.mutating(POD, () => {}).mutating(POD, () => {}, { path: '/own' });
    assert.deepEqual(
      webhooks.registrations.map(({ path }) => path),
      [MUTATE, VALIDATE, '/mutate--v1-pod', '/own'],
    );
    assert.equal(
      reasonOf(() => webhooks.mutating(WIDGET, () => {})),
      'DuplicatePath',
    );
    assert.equal(
      reasonOf(() => webhooks.mutating(WIDGET, () => {}, { path: '/own' })),
      'DuplicatePath',
    );
    assert.equal(
      reasonOf(() => webhooks.mutating(WIDGET, () => {}, { path: 'own' })),
      'InvalidPath',
    );
    assert.equal(
      reasonOf(() => webhooks.validating(POD, {})),
      'EmptyWebhook',
    );
    assert.equal(webhooks.registrations.length, 4);
  });

  it('runtime/W2: others are not there', async () => {
    assert.equal((await world().post('/other', review({}))).status, 404);
  });
});

describe('admission reviews', () => {
  it('runtime/W3: says in which version the client wrote, where that is another one', async () => {
    const { webhooks, post } = world();
    const seen: string[] = [];
    webhooks.validating(WIDGET, {
      validateCreate: (_object, { request: { kind, requestKind } }) => {
        seen.push(`${kind.version} for ${requestKind.version}`);
      },
    });
    const object = widget({ size: 1 });
    await post(VALIDATE, review({ object }));
    await post(VALIDATE, review({ object, requestKind: { group: 'ex.io', version: 'v0', kind: 'Widget' } }));
    assert.deepEqual(seen, ['v1 for v1', 'v1 for v0']);
  });

  it('runtime/W3: answers in the version of the question with its uid', async () => {
    const { webhooks, post } = world();
    webhooks.validating(WIDGET, { validateCreate: () => {} });
    for (const version of ['v1', 'v1beta1']) {
      assert.deepEqual((await post(VALIDATE, review({ object: widget({}) }, version))).review, {
        kind: 'AdmissionReview',
        apiVersion: `admission.k8s.io/${version}`,
        response: { uid: 'u1', allowed: true },
      });
    }
  });

  it('runtime/W3: a question that cannot be read is refused with 400 in an answer of status 200', async () => {
    const { webhooks, respond } = world();
    webhooks.validating(WIDGET, { validateCreate: () => {} });
    const table: readonly [string, JsonObject | string, Loose, RegExp][] = [
      ['empty', '', {}, /no body/],
      ['no JSON', '{', {}, /not JSON/],
      ['a list', '[]', {}, /no AdmissionReview/],
      ['another kind', { kind: 'Pod', apiVersion: 'v1' }, {}, /"Pod" of "v1"; expected "AdmissionReview"/],
      ['another version', { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v2' }, {}, /v1 or/],
      ['no request', { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }, {}, /no request/],
      ['no uid', review({ uid: '' }), {}, /uid is missing/],
      ['no operation', review({ operation: 'LOOK' }), {}, /"LOOK" is unknown/],
      ['another type', review({}), { type: 'text/plain' }, /content type is "text\/plain"/],
    ];
    for (const [name, body, more, message] of table) {
      const { allowed, status } = await respond(VALIDATE, body, more);
      assert.deepEqual([allowed, status.code, status.reason], [false, 400, 'BadRequest'], name);
      assert.match(status.message, message);
    }
    assert.equal(
      (await respond(VALIDATE, review({ object: widget({}) }), { type: 'application/json; charset=utf-8' }))
        .allowed,
      true,
    );
  });

  it('runtime/W1: a question of more than 7 MiB is refused with 413', async () => {
    const { webhooks, respond } = world();
    webhooks.validating(WIDGET, { validateCreate: () => {} });
    const bodies = [
      () => Promise.resolve(new Uint8Array(7 * 1024 * 1024 + 1)),
      () => Promise.reject(new BodyTooLarge(7 * 1024 * 1024)),
    ];
    for (const body of bodies) assert.equal((await respond(VALIDATE, '', { body })).status.code, 413);
    await assert.rejects(respond(VALIDATE, '', { body: () => Promise.reject(new Error('reset')) }), /reset/);
  });

  it('runtime/W3: a patch is the difference to the raw object, so that unknown fields and large numbers survive', async () => {
    const { webhooks, respond } = world();
    webhooks.mutating(WIDGET, (object) => {
      object.spec.color ??= 'red';
    });
    const raw = `{"size":1,"unknown":{"keep":12345678901234567890},"__proto__":{"x":1}}`;
    const body = JSON.stringify(review({ object: widget({}) })).replace('"spec":{}', `"spec":${raw}`);
    const { allowed, patchType, patch } = await respond(MUTATE, body);
    assert.deepEqual([allowed, patchType], [true, 'JSONPatch']);
    const operations = JSON.parse(Buffer.from(patch, 'base64').toString());
    assert.deepEqual(operations, [{ op: 'add', path: '/spec/color', value: 'red' }]);
    assert.deepEqual(applyJsonPatch(widget({ size: 1 }), operations), widget({ size: 1, color: 'red' }));
    const unchanged = await respond(MUTATE, review({ object: widget({ color: 'blue' }) }));
    assert.deepEqual(unchanged, { uid: 'u1', allowed: true });
    const deleted = await respond(MUTATE, review({ operation: 'DELETE', object: null, oldObject: widget({}) }));
    assert.deepEqual(deleted, { uid: 'u1', allowed: true });
  });

  it('runtime/W3: a handler that throws refuses with 500 and is counted', async () => {
    const { metrics, respond } = handling(() => {
      throw new TypeError('x is undefined');
    });
    const { allowed, status } = await respond('/custom', review({}));
    assert.deepEqual([allowed, status.code, status.reason], [false, 500, 'InternalError']);
    assert.match(status.message, /x is undefined/);
    assert.match(await metrics.text(), /controller_runtime_webhook_panics_total 1/);
  });

  it('runtime/W3: an ApiError that a handler throws is the answer, causes included', async () => {
    const { metrics, respond } = handling(() =>
      Promise.reject(
        new ApiError({ code: 409, reason: 'Conflict', message: 'no', details: { causes: [{ field: 'spec' }] } }),
      ),
    );
    const { status } = await respond('/custom', review({}));
    assert.deepEqual([status.code, status.reason, status.message], [409, 'Conflict', 'no']);
    assert.deepEqual(status.details.causes, [{ field: 'spec' }]);
    assert.match(await metrics.text(), /controller_runtime_webhook_panics_total 0/);
  });

  it('runtime/W3: warnings come with every decision', async () => {
    const { respond } = handling((_request, context) => {
      for (let at = 0; at < 30; at++) context.warn(`old field ${at}`);
      return denied('no');
    });
    const { warnings, allowed } = await respond('/custom', review({}));
    assert.deepEqual([warnings.length, warnings[0], allowed], [20, 'old field 0', false]);
  });

  it('runtime/W1: a handler has the time that the API server waits, and hears when it is over', async () => {
    let hasHeard = false;
    const { clock, respond } = handling((_request, { signal }) => {
      signal.addEventListener('abort', () => {
        hasHeard = true;
      });
      return new Promise<AdmissionResult>(() => {});
    });
    const table: readonly [string, number][] = [
      ['timeout=3s', 3000],
      ['', 10_000],
      ['timeout=1h', 30_000],
      ['timeout=x', 10_000],
    ];
    for (const [query, ms] of table) {
      hasHeard = false;
      const answer = respond('/custom', review({}), { query });
      await clock.advance(ms - 1);
      assert.equal(hasHeard, false, query);
      await clock.advance(1);
      const { status } = await answer;
      assert.deepEqual([status.code, status.reason, hasHeard], [504, 'Timeout', true], query);
    }
    const gone = new AbortController();
    const answer = respond('/custom', review({}), { signal: gone.signal });
    await clock.advance(0);
    gone.abort();
    assert.equal((await answer).status.code, 504);
    assert.equal(clock.nextDueMs, undefined, 'no timer is left');
  });
});

describe('validators', () => {
  const judged = { validateCreate: () => denied('no create'), validateUpdate: () => denied('no update') };

  it('runtime/W4: a denial is 403 Forbidden with HTTP status 200 unless told otherwise', async () => {
    const { webhooks, respond } = world();
    webhooks.validating(WIDGET, judged);
    const { uid, allowed, status } = await respond(VALIDATE, review({ object: widget({}) }));
    assert.deepEqual([uid, allowed], ['u1', false]);
    assert.deepEqual(status, {
      metadata: {},
      message: 'no create',
      reason: 'Forbidden',
      code: 403,
    });
    const other = handling(() => denied('later', { code: 429, reason: 'TooManyRequests' }));
    const later = await other.respond('/custom', review({}));
    assert.deepEqual([later.status.code, later.status.reason], [429, 'TooManyRequests']);
  });

  it('runtime/W4: field errors are 422 Invalid with causes and the sentence of kubectl', async () => {
    const { webhooks, respond } = world();
    webhooks.validating(WIDGET, {
      validateCreate: ({ spec: { size } }) =>
        invalid([
          ...(size > 9 ? [invalidField('spec.size', size, 'must be at most 9')] : []),
          ...(size > 99 ? [required('spec.color')] : []),
        ]),
    });
    const { status } = await respond(VALIDATE, review({ object: widget({ size: 100 }) }));
    assert.deepEqual([status.code, status.reason], [422, 'Invalid']);
    assert.equal(
      status.message,
      'Widget.ex.io "w1" is invalid: [spec.size: Invalid value: 100: must be at most 9, spec.color: Required value]',
    );
    assert.deepEqual(status.details.causes[1], {
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: 'spec.color',
    });
    const single = await respond(VALIDATE, review({ object: widget({ size: 10 }) }));
    assert.match(single.status.message, /is invalid: spec\.size: Invalid value: 10: must be at most 9$/);
    assert.equal((await respond(VALIDATE, review({ object: widget({ size: 1 }) }))).allowed, true);
  });

  it('runtime/W4: each operation has a method of its own; what has none passes', async () => {
    const { webhooks, respond } = world();
    const seen: string[] = [];
    webhooks.validating(WIDGET, {
      validateUpdate: (old, object) => void seen.push(`${old.spec.size} to ${object.spec.size}`),
      validateDelete: async ({ metadata }, { request }) => {
        seen.push(`delete ${metadata.name} by ${request.userInfo.username} of ${request.userInfo.groups.join()}`);
        return denied('keep it');
      },
    });
    const sizes = { object: widget({ size: 2 }), oldObject: widget({ size: 1 }) };
    assert.equal((await respond(VALIDATE, review(sizes))).allowed, true);
    assert.equal((await respond(VALIDATE, review({ ...sizes, operation: 'UPDATE' }))).allowed, true);
    assert.equal((await respond(VALIDATE, review({ ...sizes, operation: 'CONNECT' }))).allowed, true);
    const deleting = { operation: 'DELETE', object: null, oldObject: widget({}) };
    assert.equal((await respond(VALIDATE, review(deleting))).status.message, 'keep it');
    assert.deepEqual(seen, ['1 to 2', 'delete w1 by jane of a']);
    assert.deepEqual(webhooks.registrations[0]?.rules[0]?.['operations'], ['UPDATE', 'DELETE']);
  });

  it('runtime/W4: an update that only takes finalizers off a dying object passes unless opted in', async () => {
    const dying = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a'], resourceVersion: '1' };
    const update = (object: JsonObject, oldObject: JsonObject) =>
      review({ operation: 'UPDATE', object, oldObject });
    const after = widget({ size: 1 }, { ...dying, finalizers: [], resourceVersion: '2' });
    const before = widget({ size: 1 }, dying);
    const { webhooks, respond } = world();
    webhooks.validating(WIDGET, judged);
    webhooks.validating(WIDGET, { ...judged, judgesDeletion: true }, { path: '/strict' });
    assert.equal((await respond(VALIDATE, update(after, before))).allowed, true);
    assert.equal((await respond('/strict', update(after, before))).allowed, false);
    assert.equal((await respond(VALIDATE, update(widget({ size: 2 }, dying), before))).allowed, false);
    assert.equal(
      (await respond(VALIDATE, update(widget({ size: 1 }), widget({ size: 1 }, { finalizers: ['a'] })))).allowed,
      false,
    );
  });

  it('runtime/W4: a defaulter that is not idempotent is found when defaulters are checked', async () => {
    const { webhooks, respond } = world({ checksDefaulters: true });
    webhooks.mutating(WIDGET, (object) => {
      object.spec.size += 1;
    });
    webhooks.mutating(WIDGET, (object) => void (object.spec.color = 'red'), { path: '/calm' });
    const { status } = await respond(MUTATE, review({ object: widget({ size: 1 }) }));
    assert.match(status.message, /changes what it made itself: .*"\/spec\/size"/);
    assert.equal((await respond('/calm', review({ object: widget({ size: 1 }) }))).allowed, true);
  });
});

describe('metrics of webhooks', () => {
  it('runtime/W7: counts requests by path and code, those in flight, and measures how long they take', async () => {
    const { clock, metrics, respond, post } = handling(async () => {
      assert.match(await metrics.text(), /controller_runtime_webhook_requests_in_flight\{webhook="\/custom"\} 1/);
      await clock.sleep(70);
      return denied('no');
    });
    const zero = await metrics.text();
    assert.match(zero, /controller_runtime_webhook_requests_total\{webhook="\/custom",code="500"\} 0/);
    const answer = respond('/custom', review({}));
    for (let turns = 0; turns < 5; turns++) await clock.advance(0);
    await clock.advance(70);
    assert.equal((await answer).status.message, 'no');
    const text = await metrics.text();
    assert.match(text, /controller_runtime_webhook_requests_total\{webhook="\/custom",code="200"\} 1/);
    assert.match(text, /controller_runtime_webhook_requests_in_flight\{webhook="\/custom"\} 0/);
    assert.match(text, /controller_runtime_webhook_latency_seconds_sum\{webhook="\/custom"\} 0\.07/);
    await assert.rejects(post('/custom', '', { body: () => Promise.reject(new Error('reset')) }));
    assert.match(
      await metrics.text(),
      /controller_runtime_webhook_requests_total\{webhook="\/custom",code="500"\} 1/,
    );
  });
});
