import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requireProjectName, scaffold } from './scaffold.ts';

describe('scaffold', () => {
  it('replaces every spelling of the name of the example', () => {
    const text = "acme-cloud AcmeCloudClient ACME_CLOUD_SECRET 'Acme Cloud' acme";
    const [file] = scaffold([{ path: 'src/acme-cloud.ts', text }], { name: 'my-big-cloud', dependency: '1.0.0' });
    assert.deepEqual(file, {
      path: 'src/my-big-cloud.ts',
      text: "my-big-cloud MyBigCloudClient MY_BIG_CLOUD_SECRET 'My Big Cloud' acme",
    });
  });

  it('depends on what it is told, in package.json only', () => {
    const text = '{ "slipway": "file:../.." }';
    const dependency = 'file:/home/me/a "b"';
    const [manifest, other] = scaffold(
      [
        { path: 'package.json', text },
        { path: 'other.json', text },
      ],
      { name: 'x', dependency },
    );
    assert.deepEqual(JSON.parse(manifest?.text ?? ''), { slipway: dependency });
    assert.equal(other?.text, text);
  });

  for (const name of ['a', 'my-cloud', 'c9', `a${'b'.repeat(37)}`])
    it(`takes ${name} as a name`, () => requireProjectName(name));

  for (const name of [
    '',
    'My-Cloud',
    '9c',
    '-a',
    'a-',
    'a--b',
    'a_b',
    'a.b',
    '../a',
    'external',
    `a${'b'.repeat(38)}`,
  ])
    it(`refuses ${JSON.stringify(name)} as a name and says what is allowed`, () => {
      assert.throws(() => requireProjectName(name), /is no name for a provider: use up to 38 lower-case letters/);
    });
});
