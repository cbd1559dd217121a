/** Types of single values, as protobuf calls them. 64-bit numbers are bigints, so that none is rounded. */
interface ScalarValues {
  readonly string: string;
  readonly bool: boolean;
  readonly int32: number;
  readonly int64: bigint;
  readonly uint64: bigint;
}
export type ScalarName = keyof ScalarValues;

/** What the value of a field is made of. */
export type FieldShape =
  | { readonly kind: 'scalar'; readonly scalar: ScalarName }
  | { readonly kind: 'wrapper'; readonly scalar: 'bool' | 'int64' }
  | { readonly kind: 'map' }
  | { readonly kind: 'enum'; readonly type: EnumType }
  | { readonly kind: 'message'; readonly type: MessageType };

/** `always`: a reader sees the default value when nothing was sent. `maybe`: it sees that nothing was sent. */
type Presence = 'always' | 'maybe';

declare const VALUE: unique symbol;

/** One field of a message: its number is all that goes over the wire. */
export interface Field<Out = unknown, In = unknown, P extends Presence = Presence> {
  readonly number: number;
  readonly shape: FieldShape;
  readonly isList?: boolean;
  /** Tells "not sent" from the default value. */
  readonly isOptional?: boolean;
  /** At most one of the fields with the same name here is set. */
  readonly oneof?: string;
  /** Must not be shown to anybody. */
  readonly isSecret?: boolean;
  /** Only for the compiler. */
  readonly [VALUE]?: { readonly out: Out; readonly in: In; readonly presence: P };
}

/** Keys are the names of the wire description (`volume_id`); values in programs are called `volumeId`. */
export type Fields = Readonly<Record<string, Field>>;

/** A message: full name and fields. */
export interface MessageType<F extends Fields = Fields> {
  readonly name: string;
  readonly fields: F;
}

export interface EnumType<V extends string = string> {
  readonly name: string;
  readonly values: Readonly<Record<V, number>>;
}

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type Name<K> = Camel<K & string>;
type OutOf<F> = F extends Field<infer Out, unknown, Presence> ? Out : never;
type InOf<F> = F extends Field<unknown, infer In, Presence> ? In : never;
type Flat<T> = { readonly [K in keyof T]: T[K] };

/** A message as it was received: everything that always has a value has one. */
export type Received<M extends MessageType> = Flat<
  {
    readonly [K in keyof M['fields'] as M['fields'][K] extends Field<unknown, unknown, 'always'>
      ? Name<K>
      : never]: OutOf<M['fields'][K]>;
  } & {
    readonly [K in keyof M['fields'] as M['fields'][K] extends Field<unknown, unknown, 'always'>
      ? never
      : Name<K>]?: OutOf<M['fields'][K]>;
  }
>;

/** A message to send: what is left out has its default value. */
export type Sent<M extends MessageType> = {
  readonly [K in keyof M['fields'] as Name<K>]?: InOf<M['fields'][K]>;
};

/** Describes a message by its full name, such as `csi.v1.VolumeCapability.AccessMode`. */
export const message = <const F extends Fields>(name: string, fields: F): MessageType<F> => ({ name, fields });

export const enumeration = <const V extends string>(
  name: string,
  values: Readonly<Record<V, number>>,
): EnumType<V> => ({ name, values });

type ScalarField<S extends ScalarName> = Field<ScalarValues[S], ScalarValues[S], 'always'>;

const scalar =
  <S extends ScalarName>(name: S) =>
  (number: number): ScalarField<S> => ({ number, shape: { kind: 'scalar', scalar: name } });

export const string = scalar('string');
export const bool = scalar('bool');
export const int32 = scalar('int32');
export const int64 = scalar('int64');
export const uint64 = scalar('uint64');

/** A `google.protobuf.BoolValue`: a boolean that may be missing. */
export const boolValue = (number: number): Field<boolean, boolean, 'maybe'> => ({
  number,
  shape: { kind: 'wrapper', scalar: 'bool' },
});

/** A `google.protobuf.Int64Value`: a number that may be missing. */
export const int64Value = (number: number): Field<bigint, bigint, 'maybe'> => ({
  number,
  shape: { kind: 'wrapper', scalar: 'int64' },
});

type Texts = Readonly<Record<string, string>>;

/** A map from text to text. */
export const stringMap = (number: number): Field<Texts, Texts, 'always'> => ({ number, shape: { kind: 'map' } });

/** Values that a newer sender may know and we do not arrive as their number. */
export const oneOfNames = <V extends string>(
  number: number,
  type: EnumType<V>,
): Field<V | number, V | number, 'always'> => ({ number, shape: { kind: 'enum', type } });

/** A message within the message; undefined when it was not sent. */
export const of = <M extends MessageType>(number: number, type: M): Field<Received<M>, Sent<M>, 'maybe'> => ({
  number,
  shape: { kind: 'message', type },
});

/** Any number of values, in order. */
export const list = <Out, In, P extends Presence>({
  number,
  shape,
}: Field<Out, In, P>): Field<readonly Out[], readonly In[], 'always'> => ({ number, shape, isList: true });

/** The same field, but one can tell whether it was sent. */
export const optional = <Out, In, P extends Presence>({
  number,
  shape,
}: Field<Out, In, P>): Field<Out, In, 'maybe'> => ({ number, shape, isOptional: true });

/** The same field, as one of several of which at most one is set; `choice` is what they are called together. */
export const either = <Out, In, P extends Presence>(
  choice: string,
  { number, shape }: Field<Out, In, P>,
): Field<Out, In, 'maybe'> => ({ number, shape, oneof: choice });

/** The same field, whose value must not be shown to anybody. */
export const secret = <F extends Field>(field: F): F => ({ ...field, isSecret: true });
