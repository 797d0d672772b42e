// native/guard/protocol.h, made from the table lib/core/native/guard-protocol.ts: names, units and ranges stand there alone.
//   node scripts/guard-protocol.mjs          says whether the header is what the table makes
//   node scripts/guard-protocol.mjs --write  writes it (npm run format does)
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadLib } from './load-lib.mjs';
import { isMain, main, root } from './run.mjs';

export const HEADER = 'native/guard/protocol.h';

/** By the end of a number's name: how many of the native side's seconds, bytes or percent it is, and what it can be. */
const UNITS = {
  Bytes: { scale: '1', most: Number.MAX_SAFE_INTEGER },
  Ms: { scale: '1e-3', most: 86_400_000 },
  Us: { scale: '1e-6', most: 86_400_000_000 },
  Percent: { scale: '1', most: 100 },
  Share: { scale: '1', most: 1 },
  Factor: { scale: '1', most: 1000 },
};

const unitOf = (name) => Object.keys(UNITS).find((unit) => name.endsWith(unit)) ?? '';
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const capital = (name) => name.replace(/(^|-)(\w)/g, (_, __, letter) => letter.toUpperCase());
const member = (name) => snake(name.slice(0, name.length - unitOf(name).length));

/** Items of a list in lines of at most 100 characters. */
function packed(items, { begin, between, end }) {
  const indent = ' '.repeat(begin.search(/\S/) + 4);
  const lines = [begin];
  items.forEach((item, at) => {
    const text = `${item}${at === items.length - 1 ? end : between}`;
    if (`${lines.at(-1)}${text}`.trimEnd().length <= 100) lines[lines.length - 1] += text;
    else lines.push(`${indent}${text}`);
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

const declared = (type, names, value) =>
  packed(
    names.map((name) => `${name}${value}`),
    { begin: `  ${type} `, between: ', ', end: ';' },
  );

function numbers(struct, rows) {
  const entries = Object.entries(rows);
  const members = declared(
    'double',
    entries.map(([name]) => member(name)),
    ' = kUnknown',
  );
  const given = entries.map(([name, { least = 0, most }]) => {
    const { scale, most: usual } = UNITS[unitOf(name)] ?? { scale: '1' };
    return `    {"${name}", &${struct}::${member(name)}, ${scale}, ${least}, ${most ?? usual}},`;
  });
  return `struct ${struct} {\n${members}\n};\ninline constexpr Given<${struct}> k${struct}[] = {\n${given.join('\n')}\n};`;
}

/** Method of a visitor, and the C++ type and first value of a member. */
const KINDS = {
  number: { method: 'number', type: 'double', value: ' = kUnknown' },
  count: { method: 'number', type: 'double', value: ' = kUnknown' },
  text: { method: 'text', type: 'const char', pointer: '*', value: ' = nullptr' },
  name: { method: 'text', type: 'const char', pointer: '*', value: ' = nullptr' },
  boolean: { method: 'boolean', type: 'bool', value: ' = false' },
  json: { method: 'json', type: 'std::string_view', value: '' },
};

/** A field, and what is declared before its structure: its words, or the structure of an object. */
function fieldOf(name, kind) {
  if (Array.isArray(kind)) return { ...KINDS.text, name, before: [words(`${name}_word`, kind)] };
  if (typeof kind !== 'object') return { ...KINDS[kind], name, before: [] };
  return { method: 'object', type: capital(name), value: '', name, before: [line(capital(name), kind)] };
}

/** A structure that visits its fields by name. */
function line(struct, rows, event) {
  const fields = Object.entries(rows).map(([name, kind]) => fieldOf(name, kind));
  const types = [...new Set(fields.map(({ type }) => type))];
  const members = types.map((type) => {
    const same = fields.filter((field) => field.type === type);
    const names = same.map(({ name, pointer = '' }) => `${pointer}${snake(name)}`);
    return declared(type, names, same[0].value);
  });
  const visits = fields.map(({ method, name }) => `.${method}("${name}", ${snake(name)})`);
  const visit =
    visits.length === 0
      ? '  void visit(Visitor&) const {}'
      : `  void visit(Visitor& field) const {\n${packed(visits, { begin: '    field', between: '', end: ';' })}\n  }`;
  const named = event === undefined ? [] : [`  static constexpr const char* kEvent = "${event}";`];
  const body = [...named, ...members, '  template <class Visitor>', visit].join('\n');
  return [...fields.flatMap(({ before }) => before), `struct ${struct} {\n${body}\n};`].join('\n');
}

function words(space, list) {
  const names = list.map((word) => `*k${capital(word)} = "${word}"`);
  return `namespace ${space} {\n${packed(names, { begin: 'inline constexpr const char ', between: ', ', end: ';' })}\n}`;
}

/** The header of the table's exports. */
export function headerOf(table) {
  const parts = [
    numbers('ProgramRules', table.PROGRAM_RULES),
    numbers('ProgramOptions', table.PROGRAM_OPTIONS),
    words('text_word', table.PROGRAM_TEXTS),
    numbers('ProbeRules', table.PROBE_RULES),
    ...Object.entries(table.PROGRAM_LINES).map(([event, fields]) => line(`${capital(event)}Line`, fields, event)),
    words('control_word', table.CONTROL),
    line('ProbeTrip', table.PROBE_TRIP),
    `inline constexpr int kExitStopped = ${table.EXIT_STOPPED};`,
  ];
  return `// clang-format off
// Made from lib/core/native/guard-protocol.ts by scripts/guard-protocol.mjs (npm run format): change that table.
#pragma once

#include <string>
#include <string_view>

#include "base/unknown.h"

namespace umaprobe {

// A number by its name: stored as \`scale\` times that, in bytes, seconds or percent.
template <class Values>
struct Given {
  const char* name;
  double Values::*value;
  double scale, least, most;
};

template <class Values>
std::string range_of(const Given<Values>& given) {
  const auto text = [](double number) { return std::to_string(static_cast<long long>(number)); };
  return "a number from " + text(given.least) + " to " + text(given.most);
}

${parts.join('\n\n')}

}  // namespace umaprobe
`;
}

/** Throws, or with \`write\` mends it, where the header is not what the table makes. */
export async function checkGuardProtocol({ write = false } = {}) {
  const header = headerOf(await loadLib('lib/core/native/guard-protocol.ts'));
  const path = join(root, HEADER);
  if (write) writeFileSync(path, header);
  else if (readFileSync(path, 'utf8') !== header)
    throw new Error(`${HEADER} is not what lib/core/native/guard-protocol.ts makes: run npm run format`);
}

if (isMain(import.meta.url)) await main(() => checkGuardProtocol({ write: process.argv.includes('--write') }));
