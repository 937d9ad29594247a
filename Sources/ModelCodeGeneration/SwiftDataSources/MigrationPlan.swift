import ModelFiles

extension SwiftDataSources {
    /// What a `SchemaMigrationPlan` states.
    package struct MigrationPlan: Sendable {
        /// A stage from one version to another.
        package struct Stage: Sendable, Equatable {
            package let from: String
            package let to: String
            package let isCustom: Bool
            package let line: Int
        }

        package let name: String
        /// The names of the versioned schemas, in the plan's order.
        package let schemas: [String]
        package let stages: [Stage]
        package let file: String
        package let line: Int

        /// The plan of some sources; nil if there is none.
        ///
        /// - Throws: ``ModelError`` if there are several, or its lists are not written as such.
        static func found(in types: SourceTypes) throws -> MigrationPlan? {
            let plans = types.all.filter { $0.inherits("SchemaMigrationPlan") }
            guard let plan = plans.first else { return nil }
            guard plans.count == 1 else {
                throw ModelError(
                    .duplicateName,
                    "The sources have several migration plans: \(plans.map(\.name).joined(separator: ", ")). Give the files of one.",
                    file: plans[1].file, line: plans[1].line)
            }
            guard let schemas = plan.variables.first(where: { $0.name == "schemas" && $0.isStatic }) else {
                throw ModelError(
                    .invalidValue, "\(plan.name) has no schemas.", file: plan.file, line: plan.line)
            }
            let stages = plan.variables.first { $0.name == "stages" && $0.isStatic }
            return MigrationPlan(
                name: plan.name,
                schemas: SourceNames.types(in: schemas.value + schemas.body).compactMap(\.last),
                stages: try stages.map { try Self.stages(in: $0.value + $0.body, of: plan, depth: 0) } ?? [],
                file: plan.file, line: plan.line)
        }

        /// The stages in `[.lightweight(…), migrateV1toV2]`, where a name is a static constant of the plan.
        private static func stages(in tokens: [SourceToken], of plan: SourceType, depth: Int) throws -> [Stage] {
            guard let open = tokens.firstIndex(where: { $0.isSign("[") }) else {
                return try [stage(tokens, of: plan, depth)]
            }
            if open > 0, tokens[..<open].contains(where: { $0.isWord("lightweight") || $0.isWord("custom") }) {
                return try [stage(tokens, of: plan, depth)]
            }
            var depthOfBrackets = 0
            var end = open
            for index in open..<tokens.count {
                if tokens[index].isSign("[") { depthOfBrackets += 1 }
                if tokens[index].isSign("]") { depthOfBrackets -= 1 }
                if depthOfBrackets == 0 {
                    end = index
                    break
                }
            }
            return try SourceParser.parts(of: Array(tokens[(open + 1)..<max(end, open + 1)])).map {
                try stage($0, of: plan, depth)
            }
        }

        private static func stage(_ tokens: [SourceToken], of plan: SourceType, _ depth: Int) throws -> Stage {
            let line = tokens.first?.line ?? plan.line
            func failure() -> ModelError {
                ModelError(
                    .invalidValue, "The stages of \(plan.name) are not a list of .lightweight and .custom.",
                    file: plan.file, line: line, entity: plan.name)
            }
            if let word = tokens.firstIndex(where: { $0.isWord("lightweight") || $0.isWord("custom") }),
                word + 1 < tokens.count, tokens[word + 1].isSign("(")
            {
                var parser = SourceParser(tokens: Array(tokens[(word + 1)...]))
                let arguments = SourceParser.arguments(in: try parser.bracketed())
                func schema(_ label: String) throws -> String {
                    guard let argument = arguments.first(where: { $0.label == label }),
                        let name = SourceNames.types(in: argument.tokens).first?.last
                    else { throw failure() }
                    return name
                }
                return Stage(
                    from: try schema("fromVersion"), to: try schema("toVersion"),
                    isCustom: tokens[word].text == "custom", line: line)
            }
            guard depth < 2, let name = tokens.last, name.kind == .word,
                let constant = plan.variables.first(where: { $0.name == name.text && $0.isStatic })
            else { throw failure() }
            return try stage(constant.value + constant.body, of: plan, depth + 1)
        }
    }
}
