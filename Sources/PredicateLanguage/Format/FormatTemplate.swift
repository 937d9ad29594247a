import Foundation

/// The tree of a format without the values of its arguments, which are inserted for each use.
struct FormatTemplate: Sendable {
    /// Represents an argument in the tree.
    private struct Placeholder: Sendable {
        let index: Int
    }

    private let tree: PredicateNode
    private let conversions: [FormatConversion]
    /// The arguments of `%K`, which are part of the tree, in the order of their conversions.
    private let keyPaths: [[String]]

    /// Parses a format for arguments that have the same key paths.
    ///
    /// - Returns: Nil if the format is invalid, or if its tree depends on the values of other arguments.
    init?(_ format: String, arguments: [Any?]) {
        guard var tokens = try? FormatScanner.tokens(of: format) else { return nil }
        var conversions: [FormatConversion] = []
        var keyPaths: [[String]] = []
        for (position, token) in tokens.enumerated() {
            guard case .conversion(let conversion) = token.kind else { continue }
            conversions.append(conversion)
            var kind = FormatToken.Kind.argument(Placeholder(index: conversion.index))
            if conversion.kind == .keyPath {
                guard let argument = try? FormatArguments(values: arguments).token(for: conversion),
                    case .keyArgument(let keys) = argument
                else { return nil }
                kind = argument
                keyPaths.append(keys)
            }
            tokens[position] = FormatToken(kind: kind, offset: token.offset)
        }
        var parser = FormatParser(format, tokens: tokens)
        guard let tree = try? parser.wholePredicate(), !Self.dependsOnArguments(tree) else { return nil }
        (self.tree, self.conversions, self.keyPaths) = (tree, conversions, keyPaths)
    }

    /// Whether arguments are operands of casts, which the parser evaluates.
    private static func dependsOnArguments(_ tree: PredicateNode) -> Bool {
        var depends = false
        tree.walk { node in
            guard case .expression(.function(KnownFunction.cast.rawValue, let operands)) = node else { return }
            depends = depends || operands.contains { placeholder($0) != nil }
        }
        return depends
    }

    private static func placeholder(_ node: ExpressionNode) -> Placeholder? {
        guard case .constant(let constant) = node, let value = constant.value, type(of: value) == Placeholder.self
        else { return nil }
        return value as? Placeholder
    }

    /// The tree with arguments; nil if they do not fit, are trees themselves, or have other key paths.
    func tree(with arguments: [Any?]) -> PredicateNode? {
        let given = FormatArguments(values: arguments)
        var keyPath = 0
        for conversion in conversions {
            switch try? given.token(for: conversion) {
            case .argument(let value):
                guard let value else { continue }
                let type = type(of: value)
                if type == ExpressionNode.self || type == PredicateNode.self { return nil }
            case .keyArgument(let keys):
                guard keys == keyPaths[keyPath] else { return nil }
                keyPath += 1
            default: return nil
            }
        }
        if conversions.count == keyPath { return tree }
        return tree.mapExpressions { node in
            Self.placeholder(node).map { .constant(value: arguments[$0.index]) } ?? node
        }
    }
}

/// The templates of the formats that a program has used: most programs use few formats, many times.
final class FormatTemplates: @unchecked Sendable {  // because a lock guards its state
    static let shared = FormatTemplates()

    private let lock = NSLock()
    /// The templates by formats; nil for a format that is parsed for each use.
    private var known: [String: FormatTemplate?] = [:]
    private static let countLimit = 500
    /// The maximum length of a format with a template, in bytes. A longer format probably contains values and is used once.
    private static let lengthLimit = 1000

    /// The tree of a format with arguments; nil if it must be parsed with them. The second call for a format costs a lookup and
    /// a copy of the tree.
    func tree(of format: String, arguments: [Any?]) -> PredicateNode? {
        if let found = lock.withLock({ known[format] }) {
            guard let found else { return nil }
            if let tree = found.tree(with: arguments) { return tree }
        }
        guard format.utf8.count <= Self.lengthLimit else { return nil }
        let template = FormatTemplate(format, arguments: arguments)
        lock.withLock {
            if known.count >= Self.countLimit { known.removeAll() }
            known[format] = .some(template)
        }
        return template?.tree(with: arguments)
    }
}
