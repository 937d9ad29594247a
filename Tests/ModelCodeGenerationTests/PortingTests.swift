import ModelCodeGeneration
import Testing

@Suite struct PortingTests {
    private func found(_ text: String) -> [String] {
        PortingFinding.findings(in: text, file: "A.swift").map { "\($0.line):\($0.column) \($0.rule.pattern)" }
    }

    @Test("Lines that do not compile elsewhere are reported with their positions")
    func places() {
        let text = """
            import CoreData
            import UIKit

            @objc(Note)
            public class Note: NSManagedObject {
                @NSManaged public var title: String?
                static let key = #keyPath(Note.title)
                @objc dynamic var isBig: Bool { true }
                override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                }
            }
            """
        #expect(
            found(text) == [
                "2:1 import UIKit", "4:1 @objc", "6:5 @NSManaged", "7:22 #keyPath", "8:5 @objc",
                "9:5 override init(entity",
            ])
    }

    @Test("Comments, strings and longer words are not code")
    func noCode() {
        #expect(found("// @objc\n/* @objc /* @objc */ @objc */ let a = \"@objc \\\" @objc\"") == [])
        #expect(found("let a = \"\"\"\n  @objc\n  \"\"\"\n@objcMembers class A {}") == ["4:1 @objcMembers"])
        #expect(found("import UIKitten\nlet myautoreleasepool = 1") == [])
    }

    @Test("Code that is compiled on Apple's platforms only is ignored")
    func conditions() {
        let text = """
            #if canImport(Darwin)
            @objc
            #else
            autoreleasepool {}
            #endif
            #if os(iOS) || os(macOS)
            @objc
            #elseif DEBUG
            #selector(a)
            #endif
            #if !canImport(UIKit) && swift(>=5)
            @NSManaged
            #endif
            #if DEBUG
            @objc
            #else
            @objc
            #endif
            """
        #expect(found(text) == ["4:1 autoreleasepool", "9:1 #selector", "12:1 @NSManaged", "15:1 @objc", "17:1 @objc"])
    }

    @Test("A finding has the format of a compiler's warning, with the replacement")
    func message() throws {
        let finding = try #require(
            PortingFinding.findings(in: "let r = a as! NSFetchRequest<B>", file: "A.swift").first)
        #expect(
            finding.message == "A.swift:1:11: warning: `as! NSFetchRequest` does not compile outside Apple's platforms."
                + " A request cannot be cast to another type: write `NSFetchRequest<Note>(request)`.")
    }
}
