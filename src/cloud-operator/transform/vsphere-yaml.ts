import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { JsonProblem, type ParsedJson } from '../../object/json-text.ts';
import { goFloat } from '../../object/validation/go-text.ts';
import { yamlBodySteps } from '../../object/yaml-body.ts';
import { cloudConfigProblem } from './problem.ts';
import {
  GLOBAL_FIELDS,
  LABEL_FIELDS,
  NODE_FIELDS,
  VCENTER_FIELDS,
  type VSphereConfig,
  type VSphereFields,
  type VSphereType,
} from './vsphere-config.ts';

/** Throws for text that is no YAML or not such a configuration. Keys that are not known go into `unknown`. */
export function readVSphereYaml(source: string, unknown: string[]): VSphereConfig {
  const value = parsed(source);
  if (value !== null && !isJsonObject(value)) throw cloudConfigProblem('expected keys and values');
  const reader = new ConfigReader(unknown);
  reader.read(value ?? {});
  return reader.config;
}

function parsed(source: string): Json {
  try {
    return finished(yamlBodySteps(source)).value;
  } catch (thrown) {
    if (!(thrown instanceof JsonProblem)) throw thrown;
    // Neither what it says nor itself as the cause: it quotes what it does not understand, such as a password with a star.
    const place = thrown.line === undefined ? '' : `line ${thrown.line}: `;
    throw cloudConfigProblem(`${place}is not valid YAML; quote values that begin with a sign`);
  }
}

/** A configuration is small: there is no need to pause. */
function finished(steps: Generator<void, ParsedJson>): ParsedJson {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

class ConfigReader {
  readonly #unknown: string[];
  readonly #vcenter = new Map<string, JsonObject | null>();
  readonly config: VSphereConfig;

  constructor(unknown: string[]) {
    this.#unknown = unknown;
    this.config = { global: {}, vcenter: this.#vcenter, labels: undefined, nodes: {} };
  }

  /** Keys are found in any case; of two that mean the same, the last in the order of characters wins. */
  read(document: JsonObject): void {
    for (const key of Object.keys(document).toSorted()) {
      const value = document[key] ?? null;
      switch (key.toLowerCase()) {
        case 'global':
          this.#section({ key, value, fields: GLOBAL_FIELDS, into: this.config.global });
          break;
        case 'nodes':
          this.#section({ key, value, fields: NODE_FIELDS, into: this.config.nodes });
          break;
        case 'labels':
          this.#labels(key, value);
          break;
        case 'vcenter':
          this.#vcenters(key, value);
          break;
        default:
          this.#unknown.push(key);
      }
    }
  }

  #labels(key: string, value: Json): void {
    const into = value === null ? undefined : (this.config.labels ?? {});
    this.config.labels = into;
    if (into !== undefined) this.#section({ key, value, fields: LABEL_FIELDS, into });
  }

  #vcenters(key: string, value: Json): void {
    if (value === null) return;
    if (!isJsonObject(value)) throw expected(key, 'a vCenter by its name');
    for (const [name, fields] of Object.entries(value)) {
      const into: JsonObject = {};
      this.#section({ key: `${key}.${name}`, value: fields, fields: VCENTER_FIELDS, into });
      this.#vcenter.set(name, fields === null ? null : into);
    }
  }

  #section({ key, value, fields, into }: Section): void {
    if (value === null) return;
    if (!isJsonObject(value)) throw expected(key, 'keys and values');
    for (const name of Object.keys(value).toSorted()) {
      const field = Object.entries(fields).find(([known]) => known.toLowerCase() === name.toLowerCase());
      const member = value[name] ?? null;
      if (field === undefined) this.#unknown.push(`${key}.${name}`);
      else if (member !== null) into[field[0]] = READERS[field[1]](member, `${key}.${name}`);
    }
  }
}

interface Section {
  /** For messages. */
  readonly key: string;
  readonly value: Json;
  readonly fields: VSphereFields;
  readonly into: JsonObject;
}

const expected = (key: string, what: string) => cloudConfigProblem(`expected ${what} as the value of ${key}`);

const READERS: Readonly<Record<VSphereType, (value: Json, key: string) => Json>> = {
  text,
  looseText: (value, key) => {
    if (value === null || typeof value === 'object') throw expected(key, 'a text');
    return typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value);
  },
  texts: (value, key) => {
    if (!Array.isArray(value)) throw expected(key, 'a list');
    return value.map((item) => (item === null ? '' : text(item, key)));
  },
  switch: (value, key) => {
    if (typeof value !== 'boolean') throw expected(key, 'true or false');
    return value;
  },
  whole: (value, key) => {
    const isWhole = typeof value === 'bigint' || Number.isInteger(value);
    if (!isWhole || Number(value) < 0) throw expected(key, 'a whole number from 0');
    return value;
  },
};

function text(value: Json, key: string): string {
  if (typeof value !== 'string') throw expected(key, 'a text, in quotes where it looks like something else,');
  return value;
}
