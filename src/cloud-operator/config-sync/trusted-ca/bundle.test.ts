import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { authorityPem } from '../../../../test/support/config-sync-world.ts';
import { checkedBundle, mergedBundle } from './bundle.ts';

describe('a bundle of authorities', () => {
  let [one, two] = ['', ''];
  before(async () => {
    [one, two] = await Promise.all([authorityPem('one'), authorityPem('two')]);
  });
  const damaged = () => one.replace(/\n[^-]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');

  const usable: readonly { readonly name: string; readonly text: () => string }[] = [
    { name: 'one certificate', text: () => one },
    { name: 'several', text: () => `${one}${two}` },
    { name: 'text before and between', text: () => `# ACME root\n${one}\nAnother: one\n${two}` },
    { name: 'whitespace at the end', text: () => `${one}\n\n \t\n` },
    { name: 'comments at the end', text: () => `${one}\n# that is all\n` },
    { name: 'no newline at the end', text: () => one.trimEnd() },
    { name: 'the line ends of Windows', text: () => one.replaceAll('\n', '\r\n') },
    { name: 'headers in a block', text: () => one.replace('-----\n', '-----\nComment: x\n\n') },
  ];
  for (const { name, text } of usable)
    it(`operator/R77, operator/section 18.16: may have ${name}`, () => {
      assert.deepEqual(checkedBundle(text()), { bundle: text() });
    });

  const refused: readonly { readonly name: string; readonly text: () => string | undefined; want: RegExp }[] = [
    { name: 'nothing', text: () => undefined, want: /^it is missing$/ },
    { name: 'an empty text', text: () => ' \n', want: /^it is empty$/ },
    { name: 'garbage', text: () => 'garbage', want: /^it holds no PEM block$/ },
    {
      name: 'another type of block',
      text: () => `${one}${two.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE')}`,
      want: /^certificate 2 is a PEM block of type "TRUSTED CERTIFICATE", must be of type "CERTIFICATE"$/,
    },
    {
      name: 'a key',
      text: () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
      want: /^certificate 1 is a PEM block of type "PRIVATE KEY"/,
    },
    {
      name: 'a block without end',
      text: () => `${one}-----BEGIN CERTIFICATE-----\nAAAA\n`,
      want: /^certificate 2 has no line "-----END CERTIFICATE-----"$/,
    },
    {
      name: 'a block inside of a block',
      text: () => `-----BEGIN CERTIFICATE-----\nAAAA\n${one}`,
      want: /^certificate 1 has no line/,
    },
    {
      name: 'another end',
      text: () => one.replace('-----END CERTIFICATE', '-----END KEY'),
      want: /^certificate 1 has no line/,
    },
    {
      name: 'no base64',
      text: () => `${one}-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----`,
      want: /^certificate 2 is no PEM: its text is not base64$/,
    },
    {
      name: 'a damaged certificate',
      text: () => `${two}${damaged()}`,
      want: /^certificate 2 cannot be parsed \(/,
    },
  ];
  for (const { name, text, want } of refused)
    it(`operator/R77: must not be ${name}`, () => {
      const { bundle, problem = '' } = checkedBundle(text());
      assert.equal(bundle, undefined);
      assert.match(problem, want);
    });

  it('operator/R78, operator/R79: has those of the cloud config first, those of the Proxy next, those of the system last', () => {
    assert.equal(mergedBundle({ system: two }), two);
    assert.equal(mergedBundle({ system: two, proxy: one }), `${one}\n${two}`);
    assert.equal(mergedBundle({ system: two, cloud: one }), `${one}\n${two}`);
    assert.equal(mergedBundle({ system: two, proxy: one, cloud: two }), `${two}\n${one}\n${two}`);
    assert.equal(mergedBundle({ system: two, proxy: one, cloud: one }), `${one}\n${two}`, 'not twice');
  });

  it('operator/R58: is final when it cannot be used as a whole', () => {
    const merge = () => mergedBundle({ system: one, proxy: `${two}-----BEGIN CERTIFICATE-----` });
    assert.throws(merge, {
      disposition: 'terminal',
      message: /^the merged trust bundle cannot be used: certificate 2/,
    });
  });
});
