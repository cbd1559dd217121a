import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fieldShapeFiles } from '../../../scripts/generate-field-shapes.ts';
import { FIELD_SHAPES } from './generated/field-shapes.ts';
import { OPERANDS, STATIC_PODS, shapeNameOf } from './manifest-kinds.ts';

const FOLDER = join(import.meta.dirname, 'generated');
const TABLES = join(import.meta.dirname, '../../apiserver/generated');

describe('the shapes of manifests', () => {
  it('style/S9: are what the generator writes from the schemas of the server', () => {
    const present = globSync('*', { cwd: FOLDER }).map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')]);
    assert.deepEqual(Object.fromEntries(present), Object.fromEntries(fieldShapeFiles(TABLES)));
  });

  it('operator/R23: are there for every kind, and for every type that a shape names', () => {
    const kinds = [...OPERANDS.kinds.values(), ...STATIC_PODS.kinds.values()].map(shapeNameOf);
    const named = Object.values(FIELD_SHAPES).flatMap((fields) => Object.values(fields));
    const types = named.map((shape) => shape.replace(/^(\[\]|\{\})+/, '')).filter((shape) => shape.includes('.'));
    assert.deepEqual(
      [...kinds, ...types].filter((type) => FIELD_SHAPES[type] === undefined),
      [],
    );
  });
});
