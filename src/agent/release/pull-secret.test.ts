import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parsePullSecret } from './pull-secret.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (auth: unknown): string => JSON.stringify({ auths: { 'r.example': { auth } } });
const HOW = 'set .dockerconfigjson of the pull secret to {"auths":{"HOST":{"auth":"BASE64 OF USER:PASSWORD"}}}';

describe('parsePullSecret', () => {
  it('agent/R3: reads user and password of each registry; a password may have colons', () => {
    const text = JSON.stringify({
      auths: { 'r.example': { auth: base64('jane:a:b'), email: 'x' }, 'r.example:5000': { auth: base64(':') } },
      credsStore: 'x',
    });
    assert.deepEqual(
      [...parsePullSecret(text)],
      [
        ['r.example', { username: 'jane', password: 'a:b' }],
        ['r.example:5000', { username: '', password: '' }],
      ],
    );
  });

  it('agent/E4: reads the placeholder that is made where there is no pull secret', () => {
    const text = '{"auths":{"fake-pull-secret":{"auth":"cGxhY2Vob2xkZXI6c2VjcmV0Cg=="}}}';
    assert.deepEqual(parsePullSecret(text).get('fake-pull-secret'), {
      username: 'placeholder',
      password: 'secret\n',
    });
  });

  for (const given of ['{}', 'null', '{"auths":null}', '{"auths":{}}', ' {"other":1}\n']) {
    it(`agent/R3: has no registries in ${given.trim()}`, () => {
      assert.equal(parsePullSecret(given).size, 0);
    });
  }

  it('agent/R3: takes line breaks in base64', () => {
    const auth = base64('jane:a-very-long-password').replace(/(.{8})/g, '$1\n');
    assert.equal(parsePullSecret(secret(auth)).get('r.example')?.password, 'a-very-long-password');
  });

  const wrong = [
    { name: 'nothing', given: '', message: 'failed to parse pullsecret: unexpected end of JSON input' },
    {
      name: 'an end too early',
      given: '{"auths": {"r.example": {"auth": "x',
      message: 'failed to parse pullsecret: unexpected end of JSON input',
    },
    {
      name: 'an object that is not closed',
      given: '{"auths": {',
      message: 'failed to parse pullsecret: unexpected end of JSON input',
    },
    { name: 'a text', given: 'invalid json', message: 'failed to parse pullsecret: no JSON' },
    { name: 'a number', given: '5', message: 'failed to parse pullsecret: it is a number, not an object' },
    {
      name: 'a list of registries',
      given: '{"auths":[]}',
      message: 'failed to parse pullsecret: auths is a list, not an object',
    },
    {
      name: 'a registry that is a text',
      given: '{"auths":{"r.example":"x"}}',
      message: 'failed to parse pullsecret: the entry r.example is a string, not an object',
    },
    {
      name: 'an auth that is a number',
      given: secret(5),
      message: 'failed to parse pullsecret: auth of r.example is a number, not a text',
    },
    {
      name: 'an auth that is an object',
      given: secret({}),
      message: 'failed to parse pullsecret: auth of r.example is an object, not a text',
    },
    {
      name: 'base64 that is cut',
      given: secret('invalidbase64'),
      message: 'failed to decode auth for r.example: illegal base64 data at input byte 12',
    },
    {
      name: 'base64 without its end',
      given: secret('YTpi'.slice(0, 3)),
      message: 'failed to decode auth for r.example: illegal base64 data at input byte 0',
    },
    {
      name: 'a letter that is none',
      given: secret('YT%i'),
      message: 'failed to decode auth for r.example: illegal base64 data at input byte 2',
    },
    {
      name: 'letters of the other alphabet',
      given: secret('YTp_'),
      message: 'failed to decode auth for r.example: illegal base64 data at input byte 3',
    },
    {
      name: 'something behind the end',
      given: secret('YTo=YTo='),
      message: 'failed to decode auth for r.example: illegal base64 data at input byte 4',
    },
    {
      name: 'no colon',
      given: secret(base64('malformeddata')),
      message: 'invalid auth format for r.example: there is no ":" between user and password',
    },
    {
      name: 'an empty auth',
      given: secret(''),
      message: 'invalid auth format for r.example: there is no ":" between user and password',
    },
    {
      name: 'no auth',
      given: '{"auths":{"r.example":{"username":"a"}}}',
      message: 'invalid auth format for r.example: there is no ":" between user and password',
    },
    {
      name: 'null instead of an entry',
      given: '{"auths":{"r.example":null}}',
      message: 'invalid auth format for r.example: there is no ":" between user and password',
    },
  ];
  for (const { name, given, message } of wrong) {
    it(`agent/R3: refuses ${name}`, () => {
      assert.throws(() => parsePullSecret(given), { reason: 'InvalidPullSecret', message: `${message}; ${HOW}` });
    });
  }

  it('agent/R3: refuses a good entry because of a bad one', () => {
    const text = JSON.stringify({ auths: { 'a.example': { auth: base64('a:b') }, 'b.example': { auth: '%' } } });
    assert.throws(() => parsePullSecret(text), { message: /failed to decode auth for b\.example/ });
  });

  it('never repeats what is in it', () => {
    const text = fc.oneof(fc.string(), fc.string().map(secret), fc.json());
    fc.assert(
      fc.property(text, (given) => {
        try {
          parsePullSecret(`${given}hunter2secret`);
        } catch (thrown) {
          assert.ok(thrown instanceof Error && !thrown.message.includes('hunter2'), String(thrown));
        }
      }),
    );
    for (const given of ['hunter2', '{"auths":{"r":hunter2}}', '{"a" hunter2', secret('hunter2%')])
      assert.throws(
        () => parsePullSecret(given),
        (thrown: Error) => !thrown.message.includes('hunter'),
      );
  });
});
