import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiRequest } from '../../test/support/api-request.ts';
import { Health } from './health.ts';

const shown = (health: Health, target: string): string => {
  const request = apiRequest(target);
  const answer = health.answer(request, request.path);
  if (answer === undefined) return 'none';
  assert.ok(typeof answer.body !== 'function');
  return `${answer.status} ${Buffer.concat(answer.body).toString('utf8')}`;
};

const check = (name: string, problem?: string) => ({ name, problem: () => problem });
const well = new Health([check('ping'), check('storage')], [check('serving')]);
const sick = new Health([check('ping'), check('storage')], [check('serving', 'the server is starting')]);

describe('Health', () => {
  const rows: readonly [Health, string, string][] = [
    [well, '/healthz', '200 ok'],
    [well, '/livez', '200 ok'],
    [well, '/readyz', '200 ok'],
    [well, '/readyz/', '200 ok'],
    [well, '/readyz?verbose', '200 [+]ping ok\n[+]storage ok\n[+]serving ok\nreadyz check passed\n'],
    [well, '/livez?verbose=1&exclude=ping', '200 [+]ping excluded: ok\n[+]storage ok\nlivez check passed\n'],
    [well, '/livez/storage', '200 ok'],
    [sick, '/livez', '200 ok'],
    [
      sick,
      '/readyz',
      '500 [+]ping ok\n[+]storage ok\n[-]serving failed: the server is starting\nreadyz check failed\n',
    ],
    [sick, '/readyz?exclude=serving', '200 ok'],
    [sick, '/readyz/serving', '500 internal server error: the server is starting\n'],
    [well, '/livez/serving', 'none'],
    [well, '/readyz/a/b', 'none'],
    [well, '/other', 'none'],
    [well, '/', 'none'],
  ];
  for (const [health, target, expected] of rows) {
    it(`apiserver/D9: answers ${target} with ${JSON.stringify(expected)}`, () => {
      assert.equal(shown(health, target), expected);
    });
  }
});
