import Foundation
import KeyedArchives
import PredicateLanguage

// The values of XML attributes.

extension ModelSourceReader {
    func required(_ name: String, _ element: SourceElement) throws -> String {
        guard let value = element[name], !value.isEmpty else {
            throw error(.invalidName, "<\(element.name)> has no \(name).", element)
        }
        return value
    }

    func flag(_ name: String, _ element: SourceElement) throws -> Bool {
        try optionalFlag(name, element) ?? false
    }

    func optionalFlag(_ name: String, _ element: SourceElement) throws -> Bool? {
        guard let text = element[name] else { return nil }
        guard let value = SourceText.boolean(text) else {
            throw error(.invalidValue, "\(name) is '\(text)', neither YES nor NO.", element)
        }
        return value
    }

    func integer(_ name: String, _ element: SourceElement) throws -> Int? {
        guard let text = element[name] else { return nil }
        guard let value = Int(text) else {
            throw error(.invalidValue, "\(name) is '\(text)', which is not an integer.", element)
        }
        return value
    }

    func predicate(_ text: String, _ element: SourceElement) throws -> PredicateNode {
        do {
            return try PredicateParser.parse(text)
        } catch {
            throw self.error(.invalidPredicate, "The predicate '\(text)' cannot be parsed: \(error)", element)
        }
    }

    func expression(_ text: String, _ element: SourceElement) throws -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(text)
        } catch {
            throw self.error(.invalidPredicate, "The expression '\(text)' cannot be parsed: \(error)", element)
        }
    }

    func position(_ element: SourceElement) -> ModelPosition {
        ModelPosition(file: file, line: element.line)
    }

    func error(_ code: ModelError.Code, _ message: String, _ element: SourceElement) -> ModelError {
        let isEntity = element.name == "entity"
        let isProperty = ["attribute", "relationship", "fetchedProperty"].contains(element.name)
        return ModelError(
            code, message, file: file, line: element.line, entity: isEntity ? element["name"] : nil,
            property: isProperty ? element["name"] : nil)
    }
}
