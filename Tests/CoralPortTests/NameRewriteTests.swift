#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The rewriting of names of types, and of imports.
    @Suite struct NameRewriteTests {
        @Test("A type with a name of Foundation's gets its module where both are imported")
        func ambiguousNames() {
            var package = PortedPackage([
                SourceFile(
                    text: "import Foundation\npublic struct Predicate<Object> { let predicate: Predicate<Int>? }",
                    module: "/p/Sources/Queries"),
                SourceFile(
                    text: """
                        import XCTest
                        @testable import Queries
                        let a: Predicate<Int> = Predicate<Int>(b.Predicate, Queries.Predicate<Int>(), [Predicate<Int>]())
                        """, module: "/p/Tests/QueriesTests"),
            ])
            package.rewrite()
            #expect(!package.files[0].isChanged)
            #expect(
                package.files[1].text.split(separator: "\n").last
                    == "let a: Queries.Predicate<Int> = Queries.Predicate<Int>(b.Predicate, Queries.Predicate<Int>(), [Queries.Predicate<Int>]())"
            )
        }

        @Test("Names with a module, unless the package declares them too")
        func moduleNames() {
            #expect(
                rewritten(
                    """
                    import CoreData.NSManagedObject
                    import class CoreData.NSPredicate
                    final class A: Foundation.ValueTransformer {
                        let p = Foundation.NSPredicate(format: "a"), d = Foundation.Date(), o = foundation.NSPredicate()
                    }
                    """) == [
                        """
                        import CoreData
                        import class CoreData.NSPredicate
                        final class A: ValueTransformer {
                            let p = NSPredicate(format: "a"), d = Foundation.Date(), o = foundation.NSPredicate()
                        }
                        """
                    ])
            let own = "import CoreData\nclass ValueTransformer: Foundation.ValueTransformer {}"
            #expect(rewritten(own) == [own])
        }

        /// FFFoundation extends criteria in files with such an import: https://github.com/ffried/FFFoundation
        @Test("An import that is added has the access level of that of Foundation")
        func accessLevelsOfImports() {
            let texts = rewritten(
                "public import Foundation\n\nextension NSPredicate { public var isFolded: Bool { true } }\n",
                "internal import Foundation\n\nvar request: URLRequest?\n")
            #expect(texts[0].hasPrefix("public import CoreData\npublic import Foundation\n"))
            #expect(
                texts[1].contains("#if canImport(FoundationNetworking)\ninternal import FoundationNetworking\n#endif"))
        }

        @Test("Times of Core Foundation are those of Foundation")
        func times() {
            let texts = rewritten(
                "struct A { var last: CFAbsoluteTime?, all: [CFTimeInterval] = [CFTimeInterval(3)] }\n",
                "let CFTime = CFAbsoluteTimeGetCurrent()\n")
            #expect(
                texts == [
                    "struct A { var last: TimeInterval?, all: [TimeInterval] = [TimeInterval(3)] }\n",
                    "let CFTime = Date().timeIntervalSinceReferenceDate\n",
                ])
        }

        @Test("Observation is imported publicly where public declarations have its types")
        func publicObservation() {
            let used = [
                "public typealias A = Observation.Observable", "public func f<T: Observable>(_ t: T) {}",
                "public var r: ObservationRegistrar { g() }", "public final class C: Observable {}",
            ]
            for declaration in used {
                let text = "import Foundation\nimport Observation\n\(declaration)\n"
                #expect(rewritten(text) == [text.replacingOccurrences(of: "import Obs", with: "public import Obs")])
            }
            for text in [
                "import Observation\nfinal class C: Observable {}\npublic func f() { let r = ObservationRegistrar() }\n",
                "internal import Observation\npublic struct S {}\n",
            ] {
                #expect(rewritten(text) == [text])
            }
        }

        @Test(
            "UIKit becomes optional where only Foundation's names are used; its names remain if others need them"
        )
        func interfaces() {
            let texts = rewritten(
                "import UIKit\nlet date = Date()\n", "import CoreData\nimport UIKit\n",
                "import UIKit\nlet color = UIColor.red\n", "import UIKit\nlet other = UIColor.red\n", "let a = color\n",
                "import UIKit\nimport CoreData\n#if os(iOS)\nlet color = UIColor.red\n#endif\n")
            #expect(
                texts == [
                    "#if canImport(UIKit)\nimport UIKit\n#else\nimport Foundation\n#endif\nlet date = Date()\n",
                    "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n",
                    "import UIKit\nlet color = UIColor.red\n",
                    "#if canImport(UIKit)\nimport UIKit\nlet other = UIColor.red\n#endif\n", "let a = color\n",
                    "#if canImport(UIKit)\nimport UIKit\n#endif\nimport CoreData\n#if os(iOS)\nlet color = UIColor.red\n#endif\n",
                ])
        }

        @Test("The class of a type is the type; that of an object remains")
        func classForCoder() {
            #expect(
                rewritten("let a = [B.classForCoder(), C.B.classForCoder(), T.self.classForCoder()]")
                    == ["let a = [B.self, C.B.self, T.self]"])
            #expect(rewritten("let a = type(of: b).classForCoder()") == ["let a = type(of: b)"])
            let other = "let a = (b.classForCoder(), B.classForCoder(c), B.classForCoder)"
            #expect(rewritten(other) == [other])
        }

        @Test("The import is added in alphabetical order")
        func imports() {
            #expect(
                rewritten(
                    "// Header\n\n/// A class.\nclass A: NSManagedObject {}\n",
                    "import XCTest\nlet a: NSPredicate\n", "import Foundation\n\nlet a = x.NSManagedObject\n",
                    "@testable import App\nlet a: NSPredicate\n") == [
                        "// Header\n\nimport CoreData\n\n/// A class.\nclass A: NSManagedObject {}\n",
                        "import CoreData\nimport XCTest\nlet a: NSPredicate\n",
                        "import Foundation\n\nlet a = x.NSManagedObject\n",
                        "@testable import App\nimport CoreData\nlet a: NSPredicate\n",
                    ])
        }

        @Test("A file that loads URLs imports the module for it where it exists")
        func networking() {
            let lines = "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"
            #expect(
                rewritten("import Foundation\n\nlet a = URLSession.shared\n", "// Header\n\nlet a: URLRequest\n") == [
                    "import Foundation\n\(lines)\nlet a = URLSession.shared\n",
                    "// Header\n\n\(lines)\nlet a: URLRequest\n",
                ])
            let xml = lines.replacingOccurrences(of: "Networking", with: "XML")
            #expect(
                rewritten("import Foundation\n\nlet a: URLRequest\nlet b: XMLParser\n") == [
                    "import Foundation\n\(lines)\(xml)\nlet a: URLRequest\nlet b: XMLParser\n"
                ])
        }
    }
#endif
