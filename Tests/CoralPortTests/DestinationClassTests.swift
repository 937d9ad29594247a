#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The widening of properties whose class is narrower than that of the related objects, as of `task` in the schedules of CareKit,
    /// which also belong to tasks of HealthKit. https://github.com/carekit-apple/CareKit
    @Suite struct DestinationClassTests {
        private static let model = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
            <entity name="Errand" representedClassName="Errand" isAbstract="YES">
            <relationship name="notes" toMany="YES" destinationEntity="Note" inverseName="errand" inverseEntity="Note"/>
            <relationship name="places" toMany="YES" destinationEntity="Place" inverseName="errand" inverseEntity="Place"/>
            </entity>
            <entity name="Walk" representedClassName=".Walk" parentEntity="Errand"/>
            <entity name="Drive" representedClassName=".Drive" parentEntity="Errand"/>
            <entity name="Note" representedClassName="Note">
            <relationship name="errand" maxCount="1" destinationEntity="Errand" inverseName="notes" inverseEntity="Errand"/>
            </entity>
            <entity name="Place" representedClassName="Place">
            <relationship name="errand" maxCount="1" destinationEntity="Errand" inverseName="places" inverseEntity="Errand"/>
            </entity>
            </model>
            """

        private static let classes = """
            import CoreData
            class Errand: NSManagedObject {
                @NSManaged var notes: Set<Note>
                var title: String { "" }
            }
            class Walk: Errand {
                var distance: Int { 1 }
                override var title: String { "walk" }
            }
            class Drive: Errand {}
            class Note: NSManagedObject {
                @NSManaged var errand: Walk?
            }

            """

        private func rewritten(_ uses: String, model: String = model) throws -> String {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let file = folder.appendingPathComponent("Errands.xcdatamodel")
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data(model.utf8).write(to: file.appendingPathComponent("contents"))
            var package = PortedPackage([SourceFile(text: Self.classes + uses)], models: [file])
            package.rewrite()
            return try #require(package.files.first).text
        }

        @Test("A relationship to objects of several classes is declared with their common class")
        func widens() throws {
            let uses = """
                class Place: NSManagedObject {
                    @NSManaged private(set) var errand: Walk!  // may be a Drive
                }
                func isOpen(_ note: Note, _ walk: Walk) -> Bool { note.errand != nil && note.errand?.title == "" && walk.distance > 0 }
                """
            let text = (Self.classes + uses).replacingOccurrences(of: "errand: Walk", with: "errand: Errand")
            #expect(try rewritten(uses) == text)
        }

        @Test(
            "A property stays if its value is used as one of the class, or if there are no objects of another",
            arguments: [
                "func f(_ note: Note) -> Int { note.errand?.distance ?? 0 }",
                "func f(_ note: Note) -> Int { note.errand!.distance }",
                "extension Note { var distance: Int { errand?.distance ?? 0 } }",
            ])
        func stays(_ uses: String) throws {
            #expect(try rewritten(uses) == Self.classes + uses)
            let model = Self.model.replacingOccurrences(
                of: "<entity name=\"Drive\" representedClassName=\".Drive\" parentEntity=\"Errand\"/>", with: "")
            #expect(try rewritten("", model: model) == Self.classes)
        }
    }
#endif
