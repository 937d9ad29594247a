// The properties and functions with `@NSManaged`.

extension SwiftDeclarations {
    private mutating func mistake(_ sentence: String, line: Int) {
        mistakes.append(ManagedDeclarationMistake(file: file, line: line, sentence: sentence))
    }

    mutating func readManaged() {
        let line = tokens[index - 1].line
        guard isOutsideBodies else {
            return mistake("A class in a function has no accessors. Declare it outside the function.", line: line)
        }
        guard let owner = blocks.last?.path else {
            return mistake("@NSManaged is written outside a class.", line: line)
        }
        while let token {
            index += 1
            if token.text == "@" {
                index += 1
                skipParentheses()
            } else if Self.modifierWords.contains(token.text) {
                if text() == "(" { skipParentheses() } else { modifiers.append(token.text) }
            } else if token.text == "var" {
                readProperties(of: owner, line: line)
                break
            } else if token.text == "func" {
                readFunction(of: owner, line: line)
                break
            } else {
                mistake("@NSManaged must be followed by a property or a function.", line: line)
                break
            }
        }
        modifiers = []
    }

    var access: String {
        modifiers.first(where: Self.accessWords.contains) ?? blocks.last?.access ?? "internal"
    }

    private mutating func readProperties(of owner: [String], line: Int) {
        /// The names that have no type yet: in `var a, b: String?` the type is that of both.
        var names: [(name: String, line: Int)] = []
        while let token, token.isName {
            names.append((token.text, token.line))
            index += 1
            if text() == ":" {
                index += 1
                let type = statement(until: [",", ";", "}", "{", "="])
                for (name, line) in names {
                    managed.append(
                        ManagedDeclaration(
                            owner: owner, name: name, kind: .property(type: type), access: access, file: file,
                            line: line))
                }
                names = []
            }
            guard text() == "," else { break }
            index += 1
        }
        if let first = names.first {
            mistake("The property “\(first.name)” with @NSManaged has no type.", line: first.line)
        }
    }

    private mutating func readFunction(of owner: [String], line: Int) {
        let name = text()
        index += 1
        let start = index
        skipParentheses()
        guard index > start else { return mistake("The function “\(name)” has no parameters.", line: line) }
        let parameters = text(tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound)
        let end = index
        index = start + 1
        var values: [RelationshipFunction.Parameter] = []
        while index < end - 1 {
            let label = text()
            let second = text(at: 1)
            index += second == ":" ? 2 : 3
            let type = statement(until: [",", ")"])
            values.append(
                RelationshipFunction.Parameter(label: label, name: second == ":" ? label : second, type: type))
            index += 1
        }
        index = end
        managed.append(
            ManagedDeclaration(
                owner: owner, name: name, kind: .function(parameters: parameters, values: values), access: access,
                file: file, line: line))
    }
}
