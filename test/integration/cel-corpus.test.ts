import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Schema } from '../../src/api/schema/structural.ts';
import { compileSchemaRules } from '../../src/apiserver/cel/rules.ts';
import { isRecord } from '../../src/object/record.ts';

const ROOT = join(import.meta.dirname, '../..');
const SHARED = join(ROOT, '../shared/crds');
/** Modules that ship definitions with rules, among those the oracles are built from. */
const MODULES = ['k8s.io/kubernetes', 'k8s.io/apiextensions-apiserver'];

/** Where Go keeps the pinned modules; none without Go, or before anybody has downloaded them. */
function moduleDirectories(): readonly string[] {
  const environment = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' };
  const options = { cwd: join(ROOT, 'oracles/kubernetes'), encoding: 'utf8', env: environment } as const;
  try {
    const list = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', ...MODULES], { ...options, stdio: 'pipe' });
    return list.split('\n').filter((directory) => directory !== '' && existsSync(directory));
  } catch {
    return [];
  }
}

interface Definition {
  readonly name: string;
  readonly schema: Schema;
}

/** Files that only show how every field is written: their rules are placeholders. */
const PLACEHOLDERS = 'pkg/apis/testdata/';

/** The schemas of all definitions in the YAML files of a directory; files of other things are not even parsed. */
function definitionsIn(directory: string): readonly Definition[] {
  return globSync('**/*.yaml', { cwd: directory }).flatMap((file) => {
    if (file.startsWith(PLACEHOLDERS)) return [];
    const text = readFileSync(join(directory, file), 'utf8');
    if (!text.includes('kind: CustomResourceDefinition') || !text.includes('x-kubernetes-validations')) return [];
    return parseAllDocuments(text).flatMap((document) => schemasOf(document.toJS(), file));
  });
}

function schemasOf(value: unknown, file: string): readonly Definition[] {
  if (!isRecord(value) || value['kind'] !== 'CustomResourceDefinition' || !isRecord(value['spec'])) return [];
  const versions = (value['spec']['versions'] ?? []) as readonly {
    name: string;
    schema?: { openAPIV3Schema?: Schema };
  }[];
  return versions.flatMap(({ name, schema }) =>
    schema?.openAPIV3Schema === undefined ? [] : [{ name: `${file} ${name}`, schema: schema.openAPIV3Schema }],
  );
}

/** The texts of all rules and messageExpressions, wherever they are. */
function expressionsOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(expressionsOf);
  if (!isRecord(schema)) return [];
  const rules = schema['x-kubernetes-validations'];
  const own = Array.isArray(rules) ? rules.flatMap((rule) => [rule.rule, rule.messageExpression]) : [];
  return [...own.filter((text) => typeof text === 'string'), ...Object.values(schema).flatMap(expressionsOf)];
}

function compileAll(definitions: readonly Definition[]): {
  readonly problems: readonly string[];
  readonly count: string;
} {
  const expressions = definitions.flatMap(({ schema }) => expressionsOf(schema));
  const problems = definitions.flatMap(({ name, schema }) =>
    compileSchemaRules(schema).problems.map(({ path, message }) => `${name}${path}: ${message}`),
  );
  const distinct = new Set(expressions).size;
  const count = `${expressions.length} expressions (${distinct} distinct) of ${definitions.length} schemas`;
  return { problems, count };
}

describe('rules that others wrote', () => {
  const shared = existsSync(SHARED) ? false : `${SHARED} is not there`;
  it('apiserver/X25: all of the shared definitions compile', { skip: shared }, (t) => {
    const definitions = definitionsIn(SHARED);
    const { problems, count } = compileAll(definitions);
    t.diagnostic(`${count} compile`);
    assert.ok(definitions.length > 0, 'no definition has rules');
    assert.deepEqual(problems, []);
  });

  const directories = moduleDirectories();
  const modules = directories.length > 0 ? false : 'needs Go and its module cache';
  it('apiserver/X25: all of the definitions in pinned Go modules compile', { skip: modules }, (t) => {
    const definitions = directories.flatMap(definitionsIn);
    const { problems, count } = compileAll(definitions);
    t.diagnostic(`${count} compile`);
    assert.ok(definitions.length > 0, 'no definition has rules');
    assert.deepEqual(problems, []);
  });
});
