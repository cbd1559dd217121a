import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warningText } from './warning-text.ts';

describe('warningText', () => {
  const cases = [
    {
      name: 'the problem and what it is about',
      line: '{"level":"warn","time":"t","node":"w-1","problem":"csinodes is forbidden","message":"watch failed"}\n',
      want: 'watch failed: csinodes is forbidden (node w-1)',
    },
    { name: 'only a sentence', line: '{"level":"warn","message":"slow disk"}', want: 'slow disk' },
    {
      name: 'what was thrown, without its stack',
      line: '{"message":"a child is left","err":{"message":"EPERM","stack":"at x"},"pid":7}',
      want: 'a child is left: EPERM (pid 7)',
    },
    { name: 'what is no entry of a log', line: 'plain words\n', want: 'plain words' },
    { name: 'JSON that is no entry of a log', line: '[1]', want: '[1]' },
  ];
  for (const { name, line, want } of cases)
    it(`says ${name}`, () => {
      assert.equal(warningText(line), want);
    });
});
