import Foundation
import Testing

@testable import ModelCodeGeneration

@Suite struct PortingTests {
    private func found(_ text: String) -> [String] {
        PortingFinding.findings(in: text, file: "A.swift").map { "\($0.line):\($0.column) \($0.code)" }
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

    @Test("Text of raw strings is skipped, and interpolated code is searched")
    func strings() {
        #expect(found(##"let a = #"@objc " @objc"#; @objc"##) == ["1:28 @objc"])
        #expect(found(#"let a = "\(b["@objc"]) @objc \(#keyPath(A.b))" + "@objc""#) == ["1:32 #keyPath"])
        #expect(
            found("let a = \"\"\"\n  \\(f(\n#keyPath(A.b)))\n @objc\n \"\"\"\n@objc") == ["3:1 #keyPath", "6:1 @objc"])
    }

    @Test("A file that uses names of Core Data must import it")
    func missingImports() {
        #expect(
            found("import Foundation\nlet a: NSManagedObject\nlet b: NSPredicate") == ["2:8 NSManagedObject"])
        #expect(found("import UIKit\nlet a: NSPredicate") == ["1:1 import UIKit", "2:8 NSPredicate"])
        #expect(found("import CoreData\nlet a: NSManagedObject") == [])
        #expect(found("let a: NSManagedObject\n@preconcurrency import class CoreData.NSManagedObject") == [])
        #expect(found("import Coral\nlet a: NSManagedObject") == [])
        #expect(found("let a = b.NSPredicate // NSManagedObject") == [])
        #expect(found("#if canImport(Darwin)\nlet a: NSManagedObject\n#endif") == [])
    }

    @Test("A file that loads URLs must import the module for it")
    func networking() {
        #expect(
            found("import Foundation\nlet a = URLSession.shared\nlet b: URLRequest") == ["2:9 URLSession"])
        #expect(
            found("import Foundation\nlet a = XMLParser(data: d)\nlet b: URLRequest") == [
                "2:9 XMLParser", "3:8 URLRequest",
            ])
        #expect(
            found(
                "import Foundation\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"
                    + "let a = URLSession.shared") == [])
    }

    @Test("Names that Foundation has on Apple's platforms only")
    func foundation() {
        #expect(
            found("let a = NSMapTable<A, B>()\nlet b = CFAbsoluteTimeGetCurrent()\nlet c = URL.documentsDirectory")
                == ["1:9 NSMapTable", "2:9 CFAbsoluteTimeGetCurrent", "3:9 URL.documentsDirectory"])
        #expect(found("override func observeValue(forKeyPath a: String?) {}") == ["1:15 observeValue(forKeyPath"])
    }

    @Test("Run loops have no observers, and macros find no @objc")
    func blocksOfCoreDataEvolution() throws {
        #expect(
            found("var a: CFRunLoopObserver?\nCFRunLoopAddObserver(CFRunLoopGetMain(), a, .commonModes)") == [
                "1:8 CFRunLoopObserver", "2:45 .commonModes",
            ])
        let macro = "import SwiftSyntax\n// \"objc\"\nlet a = name == \"objc\" || name == \"objcMembers\""
        #expect(found(macro) == ["3:17 \"objc\""])
        #expect(found("let a = name == \"objc\"") == [])
        #expect(found("import SwiftSyntax\nlet a = name == \"objc\" || name == \"_objcRuntimeName\"") == [])
        let finding = try #require(PortingFinding.findings(in: macro, file: "A.swift").first)
        #expect(
            finding.message.hasPrefix(
                "A.swift:3:17: warning: `\"objc\"` finds no attribute outside Apple's platforms. A macro that requires")
        )
    }

    /// scout has a module of C that reads registers, SwiftSync one of Objective-C that catches exceptions.
    @Test("Apple's headers are listed in files of C, outside conditions")
    func headers() throws {
        let text = """
            #ifndef HANG_H
            #import <Foundation/Foundation.h>
              #include <mach/mach.h>
            #include <stdint.h>
            #include "mach/own.h"
            #if defined(__APPLE__) && TARGET_OS_IOS
            #include <mach/mach.h>
            #else
            #include <objc/runtime.h>
            #endif
            #if !defined(__APPLE__)
            #include <os/log.h>
            #endif
            #endif
            #ifndef __APPLE__
            #elif TARGET_OS_IOS
            #include <mach/mach.h>
            #else
            @import UIKit;
            #endif
            #if defined(__APPLE__) || defined(OTHER)
            # include<os/lock.h> // Both.
            /* #include <mach/mach.h> */
            #endif
            #if __has_include(<CommonCrypto/CommonCrypto.h>)
            #import <CommonCrypto/CommonCrypto.h>
            #endif
            @import CoreData;
            """
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["Sources/CHang/include/CHang.h", "App/App.h"] {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        let findings = try PortingFinding.findings(below: folder)
        #expect(Set(findings.map { URL(fileURLWithPath: $0.file).lastPathComponent }) == ["CHang.h"])
        #expect(
            findings.map { "\($0.line):\($0.column) \($0.code)" } == [
                "2:1 #import <Foundation/Foundation.h>", "3:3 #include <mach/mach.h>", "9:1 #include <objc/runtime.h>",
                "12:1 #include <os/log.h>", "22:1 # include<os/lock.h>", "28:1 @import CoreData;",
            ])
    }

    @Test("Waiting for expectations needs a time limit")
    func waits() {
        #expect(found("wait(for: [a])\nwait(for: [a, f(b)], timeout: 2)") == ["1:1 wait"])
        #expect(found("await fulfillment(of: [a])") == ["1:7 fulfillment"])
        #expect(found("self.wait(for: [\n    a,\n])\nwait(for: [\n    a\n], timeout: 1)") == ["1:6 wait"])
        #expect(
            found("wait(for: expectation)\nwait(for: 3)\nfunc wait(for: [Int]) {}\nawait(for: [a])") == ["1:1 wait"])
        #expect(
            found("XCTExpectFailure()\nmeasure(metrics: [a]) {}") == ["1:1 XCTExpectFailure", "2:1 measure(metrics"])
    }

    @Test("Each rule has a construct, which the compiler refuses: see Scripts/check-porting")
    func constructs() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("PortedConstructs")
        let found = Set(try PortingFinding.findings(below: folder).map(\.rule))
        // The manifest of the constructs names the plugin that implements the attribute.
        let missing = PortingRule.all.filter { !found.contains($0) && $0.pattern != "@NSManaged" }
        #expect(missing.map(\.pattern) == [])
    }

    @Test("The names of Core Data are those that the module exports")
    func exports() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/CoreData/Exports.swift")
        let exports = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .compactMap { $0.split(separator: ".").last.map(String.init) }.filter { $0.hasPrefix("NS") }
        #expect(exports.count > 200)
        // Foundation has the function too, for classes at the top level.
        #expect(exports.filter { !CoreDataNames.contains($0) } == ["NSStringFromClass"])
    }

    @Test("An override in an extension is reported, one in a class or an extended type's member type is not")
    func overrides() {
        let text = """
            extension Note: Codable
            where A: B {
                override func awakeFromInsert() {
                    if true { override() }
                }
                class Inner: Note {
                    override func willSave() {}
                    class func make() {}
                }
                class override var a: Int { 1 }
            }
            class Other: Note { override func willSave() {} }
            """
        #expect(found(text) == ["3:5 override", "10:11 override"])
    }

    @Test("Superclasses that need a module, or are Apple's")
    func superclasses() {
        let stub = "final class Stub: Bundle {}\n"
        #expect(found(stub + "class var main: Bundle { .module }") == ["1:19 Bundle"])
        #expect(found("class var main: Bundle { .module }\nlet a: Bundle") == [])
        #expect(found("#if canImport(CoreFoundation)\nimport CoreFoundation\n#endif\n" + stub) == [])
        #expect(
            found("import CoreData\nclass A: NSPersistentCloudKitContainer {}")
                == ["2:10 NSPersistentCloudKitContainer"])
    }

    @Test("A macro's other name may be in a line beside")
    func macroConditions() {
        #expect(found("import SwiftSyntax\nlet a = find(\"objc\")\nlet b = 1") == ["2:14 \"objc\""])
        #expect(found("import SwiftSyntax\nlet a = find(\"objc\")\n    ?? find(\"_objcRuntimeName\")") == [])
    }

    @Test("A transformer with an initialiser needs the one that is required")
    func transformers() {
        func declared(_ members: String, base: String = "ValueTransformer") -> [String] {
            found("import CoreData\npublic final class A<T>: \(base) {\n\(members)\n}\nclass B { init(a: Int) {} }")
        }
        #expect(declared("let a: T\npublic init(a: T) { self.a = a }") == ["4:8 init"])
        #expect(declared("init(a: T) {}", base: "NSSecureUnarchiveFromDataTransformer") == ["3:1 init"])
        #expect(declared("init(a: T) {}\nrequired init() {}") == [])
        #expect(declared("convenience init(a: T) { self.init() }") == [])
        #expect(declared("class func make() -> A { A() }\nlet b = { B(a: 1) }()") == [])
        #expect(declared("init(a: T) {}", base: "NSObject") == [])
    }

    @Test("Other code that the compiler refuses")
    func others() {
        #expect(found("a.tags = [b] as NSSet") == ["1:12 ] as NSSet"])
        let set =
            "import CoreData\nclass A: NSManagedObject { @NSManaged var tags: NSSet?\nvar items: NSOrderedSet? }\n"
        #expect(
            found(set + "a.tags = [b]; a.items = [b]; tags = [b]; a.tags == [b]").filter { $0.hasSuffix("[") } == [
                "4:10 ["
            ])
        #expect(found(set + "var tags: [Int]\na.tags = [b]").filter { $0.hasSuffix("[") } == [])
        #expect(found("note.objectWillChange.sink {}") == ["1:5 .objectWillChange"])
        #expect(found("progress.observe(\\.fractionCompleted) {}") == [])
        #expect(
            found("@objc protocol A { @objc optional func b() }") == ["1:1 @objc", "1:20 @objc", "1:26 optional func"])
        #expect(found("override required init(entity: E) {}") == [])
        #expect(
            found("request(of: NSFetchRequestResult.self)") == [
                "1:13 NSFetchRequestResult.self", "1:13 NSFetchRequestResult",
            ])
        let calls = ["type", "super", "self", "Results", ""].map { $0 + ".init(fetchRequest: a)" }
        #expect(found(calls.joined(separator: "\n")) == ["1:6 init"])
        #expect(found("a = type.init(\n\n    concurrencyType: a)\ntype.init(\n  name: a)") == ["1:10 init"])
        #expect(found("String(localized: \"none\")") == [])
        #expect(found("LocalizedStringResource(\"none\")") == ["1:1 LocalizedStringResource"])
        #expect(found("let lock = OSAllocatedUnfairLock()") == ["1:12 OSAllocatedUnfairLock"])
        #expect(found("let log = Logger(subsystem: a, category: b)") == ["1:11 Logger(subsystem"])
        #expect(found("log.info(\"\\(url, privacy: .public)\")") == ["1:18 privacy: ."])
        #expect(found("bundle.urls(forResourcesWithExtension: a)") == ["1:8 urls(forResourcesWithExtension"])
    }

    @Test("A type of the package with a name of Foundation's is found where both modules are imported")
    func ambiguousNames() {
        let types = """
            import Foundation
            public struct Predicate<Object> {}
            struct SortDescriptor<Object> { struct SortOrder {} }
            extension Predicate { typealias Expression = Int }
            """
        let files = [(text: types, module: "/p/Sources/Queries")]
        let ambiguous = AmbiguousNames(files: files)
        let use = "let a: Predicate<SortDescriptor<Int>>, b: Expression, c: SortOrder"
        func names(_ imports: String, module: String = "/p/Tests/QueriesTests") -> [String: String] {
            ambiguous.names(in: imports + "\n" + use, module: module)
        }
        #expect(names("import XCTest\nimport Queries") == ["Predicate": "Queries"])
        #expect(
            names("import CoreData\n@testable import Queries")
                == ["Predicate": "Queries", "SortDescriptor": "Queries"])
        #expect(names("import Queries") == [:])
        #expect(names("import Foundation") == [:])
        #expect(names("import Foundation\nimport Queries", module: "/p/Sources/Queries") == [:])
    }

    @Test("@NSManaged is no finding in a target that uses the plugin that implements it")
    func modelPlugin() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String, _ name: String) throws {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        for (name, plugin) in [("A", "CoralModelPlugin"), ("B", "OtherPlugin")] {
            try write("let plugins = [\"\(plugin)\"]", "\(name)/Package.swift")
            try write(
                "import CoreData\n@objc class Note: NSManagedObject { @NSManaged var a: Int }",
                "\(name)/Sources/\(name)/Note.swift")
        }
        let found = try PortingFinding.findings(below: folder)
        #expect(found.map(\.code) == ["@objc", "@objc", "@NSManaged"])
        #expect(found.last?.file.contains("/B/") == true)

        // Of the targets of one package only those are reported that do not use the plugin.
        let manifest = """
            let package = Package(name: "C", targets: [
                .target(name: "With", dependencies: [.target(name: "Without")], plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
                .target(name: "Without", dependencies: ["Other"]),
                .target(name: "Elsewhere", path: "Code/Elsewhere"),
                .testTarget(name: "Constant", plugins: plugins),
            ])
            """
        try write(manifest, "C/Package.swift")
        for target in ["Sources/With", "Sources/Without", "Code/Elsewhere", "Tests/Constant"] {
            try write("class Note: NSManagedObject { @NSManaged var a: Int }", "C/\(target)/Note.swift")
        }
        let without = try PortingFinding.findings(below: folder.appendingPathComponent("C"))
            .filter { $0.rule == .managed }
        #expect(
            without.map { URL(fileURLWithPath: $0.file).deletingLastPathComponent().lastPathComponent }
                == ["Elsewhere", "Without"])

        // The plugin writes no accessors for a class that another file cannot name.
        try write(
            "import CoreData\nprivate class Draft: NSManagedObject {\n    @NSManaged var title: String?\n}",
            "A/Sources/A/Draft.swift")
        let hidden = try PortingFinding.findings(below: folder.appendingPathComponent("A"))
            .filter { $0.file.hasSuffix("Draft.swift") }
        #expect(
            hidden.map { "\($0.line): \($0.message.split(separator: "warning: ")[1])" } == [
                "3: `@NSManaged` gets no accessor from the plugin. “title” has no accessor, because “Draft” is private."
                    + " Remove `private`, or run coral-port --fix, which writes the accessors of properties."
            ])
    }

    @Test("A hostile text takes no more time than its length needs")
    func hostile() {
        #expect(found(String(repeating: "#if A\n", count: 50_000)) == [])
        #expect(found("#if " + String(repeating: "!", count: 100_000) + "os(iOS)\n@objc\n#endif") == [])
        #expect(found(String(repeating: "{", count: 100_000)) == [])
        #expect(found(String(repeating: "\"\\(", count: 50_000)) == [])
        #expect(found(String(repeating: "/*", count: 50_000) + "@objc") == [])
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

    /// Quadratic time would take minutes.
    @Test("Strings that remain open are read in linear time", .timeLimit(.minutes(1)))
    func openStrings() {
        let lines = SwiftCode.lines(of: String(repeating: "\"\"\"\\(\n", count: 100_000) + "\"@objc\n@objc")
        #expect(lines.count == 100_002)
        #expect(lines.suffix(2).map { String(decoding: $0, as: UTF8.self) } == ["      ", "@objc"])
    }

    @Test("A copy of a request can be cast")
    func copiedRequests() {
        #expect(found("import CoreData\nf(r.copy() as! NSFetchRequest<B>)") == [])
        #expect(found("import CoreData\nf(r.copied() as! NSFetchRequest<B>)") == ["2:14 as! NSFetchRequest"])
    }

    @Test("A finding has the format of a compiler's warning, with the replacement")
    func message() throws {
        let finding = try #require(
            PortingFinding.findings(in: "let r = a as! NSFetchRequest<B>", file: "A.swift").first)
        #expect(
            finding.message == "A.swift:1:11: warning: `as! NSFetchRequest` does not compile outside Apple's platforms."
                + " A request cannot be cast to another type: write `NSFetchRequest<Note>(entityName: \"Note\")`.")
    }
}
