// The public numbers: every field of a type that a door of the package exports and whose value is a number, with what its
// comments say of it. TypeScript's own programming interface reads them, which TypeScript 7 does not have.
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { installPackages } from './packages.mjs';
import { PACKAGE_DOORS } from './rooms.mjs';
import { root } from './run.mjs';

const TOOL = 'tools/schemas';

/**
 * The numbers of the types that these files export. `own` is the doc comment of a number, `around` those of what it is in;
 * `isOption`: of a table of options.
 */
export async function publicNumbers(files = Object.keys(PACKAGE_DOORS).map((door) => join(root, 'lib', `${door}.ts`))) {
  await installPackages(TOOL);
  const ts = createRequire(join(root, TOOL, 'package.json'))('typescript');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found = new Map();
  const visited = new Set();
  const isOurs = (node) =>
    !program.isSourceFileFromExternalLibrary(node.getSourceFile()) &&
    !program.isSourceFileDefaultLibrary(node.getSourceFile());
  const partsOf = (type) => (type.isUnionOrIntersection() ? type.types.flatMap(partsOf) : [type]);
  const isNumber = (type) => (type.flags & (ts.TypeFlags.Number | ts.TypeFlags.BigInt)) !== 0;

  const isList = (type) => checker.isArrayType(type) || checker.isTupleType(type);

  /** True of a number, of a list of numbers, and of a record whose keys are not declared one by one. */
  const holdsNumbers = (type) =>
    partsOf(type).some((part) => {
      if (isNumber(part)) return true;
      if (isList(part)) return checker.getTypeArguments(part).some(holdsNumbers);
      const values = checker.getIndexInfosOfType(part).map((info) => info.type);
      const unnamed = part.getProperties().filter((property) => property.declarations === undefined);
      return [...values, ...unnamed.map((property) => checker.getTypeOfSymbol(property))].some((value) =>
        partsOf(value).some(isNumber),
      );
    });

  const docOf = (node) =>
    ts
      .getJSDocCommentsAndTags(node)
      .filter(ts.isJSDoc)
      .map((doc) => doc.getText())
      .join('\n');

  function visit(type) {
    if (visited.has(type)) return;
    visited.add(type);
    for (const part of partsOf(type)) {
      part.aliasTypeArguments?.forEach(visit);
      if ((part.flags & ts.TypeFlags.Object) !== 0) visitObject(part);
    }
  }

  function visitObject(type) {
    if (isList(type)) checker.getTypeArguments(type).forEach(visit);
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) visitSignature(signature);
    for (const info of checker.getIndexInfosOfType(type)) visit(info.type);
    for (const property of type.getProperties()) visitProperty(property);
  }

  function visitSignature(signature) {
    visit(signature.getReturnType());
    for (const argument of checker.getTypeArguments(signature.getReturnType())) visit(argument);
    for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter));
  }

  function visitProperty(property) {
    const [node] = property.declarations ?? [];
    const type = checker.getTypeOfSymbol(property);
    if (node === undefined) return visit(type);
    if (!isOurs(node)) return;
    if (holdsNumbers(type)) {
      const source = node.getSourceFile();
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      /** @type {string[]} */
      const around = [];
      for (let outer = node.parent; outer !== undefined; outer = outer.parent) around.push(docOf(outer));
      const place = `${relative(root, source.fileName)}:${line}`;
      found.set(node, {
        place,
        name: property.name,
        own: docOf(node),
        around,
        isOption: ts.findAncestor(node, ts.isPropertyAssignment) !== undefined,
      });
    }
    visit(type);
  }

  for (const file of files)
    for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      visit(checker.getDeclaredTypeOfSymbol(target));
      if (target.valueDeclaration) visit(checker.getTypeOfSymbol(target));
    }
  return [...found.values()];
}
