import CoreDataErrors
import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Predicates that a model or a store brings along may be invalid, or may need more steps than are allowed. None ends
/// the program: each use has an error.
@Suite struct UntrustedPredicateTests {
    /// Formats whose evaluation fails for the title below, and a part of the reason.
    static let formats = [
        ("SELF MATCHES '((('", "not a valid regular expression"),
        ("SELF MATCHES '(a+)+$'", "too many steps"),
        ("SELF.bogus.name == 1", "bogus"),
        ("$NOPE == SELF", "NOPE"),
        ("FUNCTION(SELF, 'terminate') == 1", "terminate"),
        ("bitwiseAnd:with:(SELF, 3) == 1", "Expected a number"),
    ]
    static let title = String(repeating: "a", count: 40) + "b"

    private func stack(_ format: String, type: String) throws -> TestStack {
        let model = NotesModel.make()
        let title = try #require(model.entitiesByName["Note"]?.attributesByName["title"])
        title.setValidationPredicates([try NSPredicate(parsing: format)], withValidationWarnings: ["is wrong"])
        return try TestStack(model: model, type: type)
    }

    @Test(arguments: formats, [NSSQLiteStoreType, NSInMemoryStoreType])
    func `a rule that cannot be evaluated is an error of the save`(rule: (String, String), type: String) throws {
        let stack = try stack(rule.0, type: type)
        let context = stack.context()
        let note = context.insert("Note", ["title": Self.title])
        let error = try #require(throws: NSError.self) { try context.save() }
        #expect(error.code == NSManagedObjectValidationError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "title")
        #expect(error.localizedDescription.contains(rule.1), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("cannot be validated by the rule"))
        #expect(throws: NSError.self) {
            var value: Any? = Self.title
            try note.validateValue(&value, forKey: "title")
        }
        note.setValue(nil, forKey: "title")
        try context.save()
    }

    @Test(arguments: formats)
    func `a fetch that needs unsaved objects throws`(rule: (String, String)) throws {
        let stack = try TestStack(type: NSInMemoryStoreType)
        let context = stack.context()
        _ = context.insert("Note", ["title": Self.title])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = try NSPredicate(parsing: rule.0.replacingOccurrences(of: "SELF", with: "title"))
        #expect(throws: (any Error).self) { try context.fetch(request) }
        // Saved objects are read back through the same predicate.
        try context.save()
        _ = context.insert("Note", ["title": "other"])
        #expect(throws: (any Error).self) { try context.fetch(request) }
    }

    @Test func `a method that is not known is no value, unless the program sets it`() throws {
        let arguments: [Any] = ["hello world", NSNumber(value: 5)]
        let format = "FUNCTION(%@, 'textUpToIndex:', %@)"
        let expression = NSExpression(format: format, argumentArray: arguments)
        let predicate = NSPredicate(format: format + " == 'hello'", argumentArray: arguments)
        #expect(expression.expressionValue(with: nil, context: nil) == nil)
        #expect(!predicate.evaluate(with: nil))
        #expect(throws: (any Error).self) { try expression.value(with: nil) }
        #expect(throws: (any Error).self) { try predicate.evaluation(with: nil) }

        NSExpression.setFunction("textUpToIndex:") { text, arguments in
            guard let text = text as? NSString, let end = arguments.first as? NSNumber else { return nil }
            return text.substring(to: end.intValue)
        }
        let value = expression.expressionValue(with: nil, context: nil)
        #expect(value as? String == "hello" && value as? NSString == "hello")
        #expect(NSPredicate(format: format + " == 'hello'", argumentArray: arguments).evaluate(with: nil))

        let stack = try TestStack(type: NSSQLiteStoreType)
        let context = stack.context()
        _ = context.insert("Note", ["title": "hello world"])
        _ = context.insert("Note", ["title": "good morning"])
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "FUNCTION(title, 'textUpToIndex:', 5) == 'hello'")
        #expect(try context.fetch(request).map { $0.value(forKey: "title") as? String } == ["hello world"])
    }

    @Test func `a predicate of the program's own class is evaluated by that class`() throws {
        final class Refusal: ManagedObjects.NSPredicate {
            override init() { super.init() }
            required convenience init?(coder: NSCoder) { nil }
            override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool { false }
        }
        #expect(try !Refusal().evaluation(with: "x"))
        #expect(try NSPredicate(value: true).evaluation(with: "x"))
    }
}
