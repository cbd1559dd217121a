import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Widget } from '../../../test/support/widget-kind.ts';
import { celRulesOf } from './cel-rules.ts';

describe('celRulesOf', () => {
  it('runtime/K5: lists the rules of the object, its halves, its fields and its unions', () => {
    assert.deepEqual(
      celRulesOf(Widget).map(({ path, rule }) => `${path}: ${rule.rule}`),
      [
        ': self.metadata.name.size() <= 40',
        'spec: !has(oldSelf.color) || has(self.color)',
        "spec.source: (self.type == 'file') == has(self.file)",
        "spec.source: (self.type == 'import') == has(self.__import__)",
        'spec.window: self.from <= self.to',
      ],
    );
  });
});
