import Foundation
import Testing
import XMLReading

@Suite("Reading XML") struct XMLReaderTests {
    @Test("Elements, attributes and text in the order of the document")
    func elements() throws {
        let events = try XMLEvents.read(
            """
            <?xml version="1.0" encoding="UTF-8" standalone='yes' ?>
            <!-- a - comment --><?style sheet?><?bare?>
            <a b = "1"\n\tc='"2"'><d/>é<e>x<![CDATA[<&]]]]></e >]]&gt;</a>
            <!-- after -->

            """)
        #expect(
            events == [
                "start a b=[1] c=[\"2\"]", "start d", "end d", "text é", "start e", "text x<&]]", "end e",
                "text ]]>", "end a",
            ])
    }

    @Test("References, and the normalisation of line ends and attributes")
    func normalisation() throws {
        let events = try XMLEvents.read(
            "<a b=\"1\t2\n3\r\n4\r5&#9;&#xA;&#13;&lt;&quot;\">x\r\ny\rz&#13;&amp;&apos;&#x1F600;&#233;&gt;</a>")
        #expect(events == ["start a b=[1 2 3 4 5\t\n\r<\"]", "text x\ny\nz\r&'😀é>", "end a"])
    }

    @Test("Names have the characters of the fifth edition")
    func names() throws {
        #expect(try XMLEvents.read("<_é·:1-.名/>") == ["start _é·:1-.名", "end _é·:1-.名"])
        for name in ["1", "-a", ".a", "·a", "a×", "", " a", "a;", "→"] {
            #expect(XMLEvents.error("<\(name)/>") == .syntax, "\(name)")
        }
    }

    @Test(
        "Documents that are not well-formed",
        arguments: [
            "x", "<a/>x", "<a/><b/>", "</a>", "<a></b>", "<a><b></a></b>", "<a b/>", "<a b=1/>", "<a b='1'c='2'/>",
            "<a b='<'/>", "<a b='1' b='2'/>", "<a/ >", "< a/>", "<a>]]></a>", "<a>&</a>", "<a>& amp;</a>", "<a>&x;</a>",
            "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#xFFFE;</a>", "<a>&#x110000;</a>", "<a>&#99999999999999999999;</a>",
            "<a>&#;</a>", "<a>&#x;</a>", "<a>&#1a;</a>", "<a>&#X41;</a>", "<a>\u{1}</a>", "<a>\u{FFFF}</a>",
            "<a b='\u{8}'/>",
            "<!-- a -- b --><a/>", "<a><!-- ---></a>", "<a><![cdata[x]]></a>", "<![CDATA[x]]><a/>", "<a><!x></a>",
            " <?xml version='1.0'?><a/>", "<a/><?xml version='1.0'?>", "<a><?XML x?></a>", "<?xml?><a/>",
            "<?xml encoding='UTF-8'?><a/>", "<?xml version='2.0'?><a/>", "<?xml version='1.0'encoding='UTF-8'?><a/>",
            "<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>", "<a><? x?></a>", "<a/>&#32;",
            "<a/><!DOCTYPE a>",
            "<a><!-- \u{2} --></a>", "<a><?b \u{2}?></a>", "<a><!-- \u{FFFE} --></a>", "<!DOCTYPE><a/>",
            "<!DOCTYPE a b><a/>",
            "<!DOCTYPE a SYSTEM><a/>", "<!DOCTYPE a PUBLIC 'b'><a/>", "<!DOCTYPEa><a/>",
        ])
    func malformed(text: String) {
        #expect(XMLEvents.error(text) == .syntax)
    }

    @Test("Each document that is cut off is called truncated")
    func truncated() throws {
        let text =
            "\u{FEFF}<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a PUBLIC \"b>\" 'c'><!-- d --><a b='1&amp;' c='é'>"
            + "x&#x41;<?e f?><![CDATA[g]]><h/></a>"
        let events = try XMLEvents.read(text)
        #expect(events == ["start a b=[1&] c=[é]", "text xAg", "start h", "end h", "end a"])
        for count in 0..<text.unicodeScalars.count {
            let beginning = String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
            #expect(XMLEvents.error(beginning) == .truncated, "\(beginning)")
        }
    }

    @Test("A document read byte by byte has the same events", arguments: [1, 2, 3, 5, 7, 64])
    func pieces(size: Int) throws {
        let text =
            "\u{FEFF}<?xml version='1.0'?><!DOCTYPE a><a éé='é😀&#233;\r\n'>é\r\n]]]&gt;名<![CDATA[]]]>]]]]<b/><!--é--></a>\r\n"
        let expected = try XMLEvents.read(text)
        #expect(try XMLEvents.read(Array(text.utf8), pieceSize: size) == expected)
    }

    @Test("Tokens at the ends of the window", arguments: 65_500..<65_560)
    func window(padding: Int) throws {
        let text = "<a>" + String(repeating: "x", count: padding) + "<bé c='é&lt;'>é\r\n&amp;]]</bé><!-- é -->😀</a>"
        let events = try XMLEvents.read(text)
        #expect(events.dropFirst(2) == ["start bé c=[é<]", "text é\n&]]", "end bé", "text 😀", "end a"])
        #expect(events[1].utf8.count == padding + 5)
    }

    @Test("Bytes that are not UTF-8 are an error, wherever they are")
    func invalidText() {
        let invalid: [[UInt8]] = [
            [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x80], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80],
        ]
        for bytes in invalid {
            for (start, end) in [("<a>", "</a>"), ("<a b='", "'/>"), ("<a", "/>"), ("<!--", "--><a/>"), ("<a/>", "")] {
                let document = Array(start.utf8) + bytes + Array(end.utf8)
                for size in [1, 1000] {
                    #expect { try XMLEvents.read(document, pieceSize: size) } throws: {
                        ($0 as? XMLError)?.code == .invalidText
                    }
                }
            }
        }
    }

    @Test("UTF-16 with a byte order mark")
    func utf16() throws {
        let text = "<?xml version='1.0' encoding='UTF-16'?><a>é😀</a>"
        let encodings: [(String.Encoding, [UInt8])] = [
            (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
        ]
        for (encoding, mark) in encodings {
            let data = Data(mark) + (text.data(using: encoding) ?? Data())
            let reader = XMLReader(data, documentTypes: .none)
            #expect(try XMLEvents.read(reader) == ["start a", "text é😀", "end a"])
            #expect(reader.declaredEncoding == "UTF-16")
        }
    }

    @Test("A document type with declarations is refused, and one without if it is not expected")
    func documentTypes() throws {
        let plain = "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/[x].dtd\" ><a/>"
        #expect(try XMLEvents.read(plain) == ["start a", "end a"])
        #expect(throws: XMLError.self) { try XMLReader(Data(plain.utf8), documentTypes: .none).next() }
        for text in [
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<!DOCTYPE a[]><a/>", "<!DOCTYPE a><!DOCTYPE a><a/>",
            "<!DOCTYPE a SYSTEM 'file:///etc/passwd' [<!ENTITY % b SYSTEM 'c'>%b;]><a/>",
        ] {
            #expect(XMLEvents.error(text) == .documentType)
        }
    }

    @Test("The position of an event is where its tag begins, that of an error where the grammar is left")
    func places() throws {
        let reader = XMLReader(Data("<a>\n  <b\n c='1'/>\né<d></e></a>".utf8), documentTypes: .none)
        var places: [String] = []
        #expect(throws: XMLError.self) {
            while try reader.next() != .endOfDocument { places.append("\(reader.place.line):\(reader.place.column)") }
        }
        #expect(places == ["1:1", "1:4", "2:3", "2:3", "3:9", "4:3"])
        do {
            _ = try XMLReader(Data("<a>\n\n &b;</a>".utf8), documentTypes: .none).events()
        } catch let error as XMLError {
            #expect(error.place?.line == 3)
            #expect(error.place?.offset == 8)
        }
    }

    @Test("A million levels, a million attributes, a name and a text of many megabytes")
    func large() throws {
        let levels = 1_000_000
        let deep = String(repeating: "<a>", count: levels)
        #expect(XMLEvents.error(deep) == .truncated)
        let reader = XMLReader(Data((deep + String(repeating: "</a>", count: levels)).utf8), documentTypes: .none)
        #expect(try reader.events() == 2 * levels)
        let attributes = (0..<levels).map { " a\($0)=''" }.joined()
        #expect(try XMLReader(Data("<a\(attributes)/>".utf8), documentTypes: .none).events() == 2)
        #expect(XMLEvents.error("<a\(attributes) a7=''/>") == .syntax)
        let long = String(repeating: "é", count: 4_000_000)
        #expect(
            try XMLEvents.read("<\(long)>\(long)</\(long)>").map(\.utf8.count) == [8_000_006, 8_000_005, 8_000_004])
    }

    @Test("An error of the source is thrown")
    func source() {
        struct SourceError: Error {}
        let reader = XMLReader(documentTypes: .none) { _ in throw SourceError() }
        #expect(throws: SourceError.self) { try reader.next() }
    }
}

extension XMLReader {
    /// Reads the rest and returns the number of events.
    fileprivate func events() throws -> Int {
        var count = 0
        while try next() != .endOfDocument { count += 1 }
        return count
    }
}
