import { types } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { CAPABILITY_METHODS, CAPABILITY_NAMES, type CapabilityName } from '../capabilities/capabilities.ts';
import { CAPABILITY_FACTS } from './capability-facts.ts';
import { frozenCopy } from './frozen-copy.ts';
import { isPlain, plainCopy } from './plain-copy.ts';
import { found, type Issue, type Note, namesIn, unknownName, wrongKind } from './shape.ts';

type Method = (...args: readonly unknown[]) => unknown;

/** A capability without its surroundings: bound methods by name, `declare` among them. */
export type CapabilityCopy = Readonly<Record<string, Method>>;

/**
 * The capabilities of a definition, checked. Their objects stay the author's: what is returned are functions bound to
 * them, and `declare` answers what it answered once, frozen.
 */
export function capabilityCopies(value: unknown, note: Note): Readonly<Record<string, CapabilityCopy>> {
  const path = 'capabilities';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    note(wrongKind(path, 'an object', value));
    return {};
  }
  const copies = memberNames(value, path, note).flatMap((name): readonly (readonly [string, CapabilityCopy])[] => {
    const place = `${path}.${name}`;
    const capability = readField(value, name, place, note);
    if (capability === undefined) return [];
    if (isCapabilityName(name)) return [[name, capabilityCopy(name, capability, note)]];
    note(unknownName(path, name, CAPABILITY_NAMES));
    return [];
  });
  return Object.fromEntries(copies);
}

/** The capabilities that unknown names stand for: one typo is one problem, and not also a missing capability. */
export const meantNames = (value: unknown): readonly string[] =>
  Object.keys(Object(value)).flatMap((name) => nearestWord(name, CAPABILITY_NAMES) ?? []);

const isCapabilityName = (name: string): name is CapabilityName => Object.hasOwn(CAPABILITY_METHODS, name);

function capabilityCopy(name: CapabilityName, capability: unknown, note: Note): CapabilityCopy {
  const path = `capabilities.${name}`;
  if (typeof capability !== 'object' || capability === null || Array.isArray(capability)) {
    note(wrongKind(path, 'an object with methods', capability));
    return {};
  }
  const { required, optional } = CAPABILITY_METHODS[name];
  const known = [...required, ...optional];
  const names = memberNames(capability, path, note);
  const { unknown, isMeant } = namesIn(names, known);
  const methods: Record<string, Method> = {};
  for (const method of known) {
    const place = `${path}.${method}`;
    const implementation = readField(capability, method, place, note);
    if (typeof implementation === 'function') methods[method] = bound(implementation as Method, capability);
    else if (implementation !== undefined) note(wrongKind(place, 'a function', implementation));
    else if (required.includes(method) && !isMeant(method)) note(missingMethod(name, method));
  }
  notePairs(path, methods, note);
  const free = known.filter((method) => !names.includes(method));
  // In a literal every other name is a mistake. An instance of a class has more of its own.
  const wrong = unknown.filter((one) => isPlain(capability) || nearestWord(one, free) !== undefined);
  for (const one of wrong) note(unknownName(path, one, known));
  return { ...methods, ...declaration(name, methods['declare'], note) };
}

/** Whatever a function has under the name `bind`. */
export const bound = <Fn extends (...args: never) => unknown>(fn: Fn, self: object): Fn =>
  // A bound function has the type of the function.
  Function.prototype.bind.call(fn, self) as Fn;

/** Each is of no use without the other. */
function notePairs(path: string, methods: Readonly<Record<string, Method>>, note: Note): void {
  const [has, lacks] = methods['attach'] === undefined ? ['detach', 'attach'] : ['attach', 'detach'];
  if (methods[has] === undefined || methods[lacks] !== undefined) return;
  note({
    path: `${path}.${has}`,
    code: 'SW2124',
    message: `${path} has ${has}, but no ${lacks}`,
    hint: `add ${lacks}, or leave ${has} out`,
  });
}

const missingMethod = (name: CapabilityName, method: string) => ({
  path: `capabilities.${name}.${method}`,
  code: 'SW2117',
  message: `capabilities.${name} has no method ${method}`,
  hint: `add it, or leave ${name} out: what needs it is then turned off, and says so`,
  why: `the capability ${name} is only used as a whole`,
});

/** Own ones and those of the classes, without those of every object. */
function memberNames(value: object, path: string, note: Note): readonly string[] {
  try {
    return namesOf(value);
  } catch {
    note(unreadableField(path, 'throws when it is read'));
    return [];
  }
}

function namesOf(value: object): readonly string[] {
  const names = new Set(Object.keys(value));
  let prototype: unknown = Object.getPrototypeOf(value);
  // A proxy may be a prototype of itself.
  const seen = new Set<unknown>();
  while (typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    if (seen.has(prototype)) break;
    seen.add(prototype);
    for (const name of Object.getOwnPropertyNames(prototype)) names.add(name);
    prototype = Object.getPrototypeOf(prototype);
  }
  names.delete('constructor');
  return [...names];
}

/** `declare` that answers from memory, if it answers with facts at all. */
function declaration(name: CapabilityName, declare: Method | undefined, note: Note): CapabilityCopy {
  if (declare === undefined) return {};
  const path = `capabilities.${name}.declare()`;
  const wrong = (trouble: string): CapabilityCopy => {
    note({
      path,
      code: 'SW2118',
      message: `${path} ${trouble}`,
      hint: 'return a literal with the facts; it is called once, when the definition is loaded',
      why: 'facts are needed before there is a cloud: to check, to plan and to draw manifests',
    });
    return {};
  };
  if (declare.length > 0) return wrong('must need no arguments');
  let answer: unknown;
  try {
    answer = declare();
  } catch (thrown) {
    return wrong(`must not throw, but threw ${found(messageOf(thrown))}`);
  }
  if (types.isPromise(answer)) {
    // Nobody waits for it: a rejection must not end the program.
    answer.catch(() => {});
    return wrong('must return facts, not a promise of them');
  }
  const { value: facts, unreadable } = plainCopy(answer, path);
  for (const part of unreadable) wrong(`must return plain facts, but ${part.path} ${part.trouble}`);
  CAPABILITY_FACTS[name](facts, path, note);
  const frozen = frozenCopy(facts);
  return { declare: () => frozen };
}

/** A field of an object of somebody else; undefined when it cannot be read. */
export function readField(holder: object, key: string, path: string, note: Note): unknown {
  try {
    return Reflect.get(holder, key);
  } catch {
    note(unreadableField(path, 'throws when it is read'));
    return undefined;
  }
}

export const unreadableField = (path: string, trouble: string): Issue => ({
  path,
  code: 'SW2123',
  message: `${path === '' ? 'the definition' : path} ${trouble}`,
  hint: 'write the value itself instead of a getter',
});
