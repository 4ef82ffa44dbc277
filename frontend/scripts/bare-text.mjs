// Finds text that a translated page would lose. Chrome's translation moves every text node into a separate element. React keeps the node
// that it created: its changes are no longer visible, and removing it, or inserting something before it, throws. Only the text of an
// element without other content is safe, because React sets that through the element.
import { relative } from 'node:path'
import ts from 'typescript'

/**
 * Places in the wanted files of this tsconfig.json, as `path:line: what`.
 * @param {string} config
 * @param {(path: string) => boolean} wanted
 * @returns {string[]}
 */
export function bareTexts(config, wanted) {
  const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(config, {}, ts.sys)
  const program = ts.createProgram(fileNames, { ...options, incremental: false, tsBuildInfoFile: undefined })
  const checker = program.getTypeChecker()
  const found = []
  for (const file of program.getSourceFiles()) {
    if (file.isDeclarationFile || !file.fileName.endsWith('.tsx') || !wanted(file.fileName)) continue
    const report = (node, what) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
      found.push(`${relative(process.cwd(), file.fileName)}:${line + 1}: ${what}`)
    }
    const visit = (node) => {
      if (ts.isJsxElement(node) || ts.isJsxFragment(node)) check(node, checker, report)
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return found
}

/** One child of an element: whether it may be text, and whether it may change, appear or disappear. */
function kindOf(child, checker) {
  if (ts.isJsxText(child)) {
    return child.containsOnlyTriviaWhiteSpaces ? null : { text: true, moves: false, node: child }
  }
  if (ts.isJsxExpression(child)) {
    if (!child.expression) return null
    const type = checker.getTypeAtLocation(child.expression)
    const text = mayBeText(type)
    const fixed = type.isStringLiteral() || type.isNumberLiteral()
    return { text, moves: !fixed, node: child, blank: type.isStringLiteral() && type.value.trim() === '' }
  }
  const opening = ts.isJsxElement(child) ? child.openingElement : child
  if (ts.isJsxFragment(child)) return { text: false, moves: false, node: child }
  const text = drawsText(opening, checker)
  return { text, moves: text || comesAndGoes(opening, checker), node: child }
}

const mayBeText = (type) =>
  (type.isUnion() ? type.types : [type]).some(
    (one) =>
      one.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike) &&
      // In `text && <p>…`, an empty text draws nothing.
      !(one.isStringLiteral() && one.value === ''),
  )

/** A component of ours that returns text instead of an element. */
function drawsText(opening, checker) {
  if (/^[a-z]/.test(opening.tagName.getText())) return false
  const type = checker.getTypeAtLocation(opening.tagName)
  return type.getCallSignatures().some((signature) => {
    const { declaration } = signature
    if (!declaration || declaration.getSourceFile().isDeclarationFile) return false
    return mayBeText(signature.getReturnType())
  })
}

/** A component of ours that may draw nothing. */
function comesAndGoes(opening, checker) {
  if (/^[a-z]/.test(opening.tagName.getText())) return false
  const signatures = checker.getTypeAtLocation(opening.tagName).getCallSignatures()
  return signatures.some((signature) => {
    if (!signature.declaration || signature.declaration.getSourceFile().isDeclarationFile) return false
    const type = signature.getReturnType()
    return (type.isUnion() ? type.types : [type]).some(
      ({ flags }) => flags & (ts.TypeFlags.Null | ts.TypeFlags.BooleanLike),
    )
  })
}

function check(node, checker, report) {
  const children = node.children.map((child) => kindOf(child, checker)).filter(Boolean)
  const texts = children.filter(({ text }) => text)
  if (texts.length === 0) return
  const fragment = ts.isJsxFragment(node)
  const component = texts.find(({ node: one }) => !ts.isJsxText(one) && !ts.isJsxExpression(one))
  if (component) report(component.node, 'a component that draws bare text')
  if (children.length === 1 && !fragment) return
  // Text that never changes, beside siblings that never appear or disappear.
  if (!fragment && children.every(({ moves }) => !moves)) return
  for (const { node: one, blank, moves } of texts) {
    // A blank is not text for a translation, and stays unchanged.
    if (blank && !moves) continue
    report(one, `bare text: ${one.getText().trim().replace(/\s+/g, ' ').slice(0, 60)}`)
  }
}
